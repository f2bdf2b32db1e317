"""Taking one guard out of the product: a function's source or a query's text, with a part changed.

The part must be there once, so that a mutant whose guard has moved fails instead of passing.
"""

import inspect
import textwrap
from types import ModuleType

import pytest


def mutate_text(
    patch: pytest.MonkeyPatch, module: ModuleType, name: str, old: str, new: str
) -> None:
    """Change one part of a query that the module keeps as a text."""
    text: str = getattr(module, name)
    patch.setattr(module, name, _changed(text, old, new))


def mutate_function(
    patch: pytest.MonkeyPatch, module: ModuleType, name: str, old: str, new: str
) -> None:
    """Compile one of the module's functions again with a part of its source changed."""
    source = textwrap.dedent(inspect.getsource(getattr(module, name)))
    space = dict(vars(module))
    exec(compile(_changed(source, old, new), f"<mutant of {name}>", "exec"), space)
    patch.setattr(module, name, _bound(module, space[name]))


def _changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"the guard isn't there once: {old!r}"
    return text.replace(old, new)


def _bound(module: ModuleType, made: object) -> object:
    """The new function with the module's own names, so that other patches reach it."""
    import types

    assert isinstance(made, types.FunctionType)
    return types.FunctionType(
        made.__code__, vars(module), made.__name__, made.__defaults__, made.__closure__
    )
