"""What people, agents and machines wrote never becomes markup, on any page."""

from html.parser import HTMLParser
from typing import Any

import pytest
from django.apps import apps
from django.db import models

from accounts.models import User
from tests.web import every_page
from tests.web.scene import harbour_with_everything

pytestmark = pytest.mark.django_db

HOSTILE = "<xss a=1>\"xss='xss`{{xss}}"
THEIRS = {
    "accounts.User": ["name"],
    "accounts.Workspace": ["name"],
    "billing.LedgerEntry": ["note"],
    "machines.Machine": ["name", "state_reason"],
    "machines.AwakeSpan": ["woken_by"],
    "routines_app.Agent": ["name", "purpose"],
    "routines_app.AgentVersion": ["name", "purpose", "persona", "note"],
    "routines_app.Connector": ["name", "address", "trouble", "tools"],
    "routines_app.AppSignIn": ["offer"],
    "routines_app.FolderChange": ["path", "diff", "reason"],
    "routines_app.ModelKey": ["model"],
    "routines_app.Notice": ["facts"],
    "routines_app.Routine": ["name", "instructions", "check_command", "folder"],
    "routines_app.RoutineVersion": ["content"],
    "routines_app.Run": ["headline", "body", "facts", "doing", "state_before", "state_after"],
    "routines_app.Step": ["title", "content", "facts"],
}  # fmt: skip
CHOICES = {"agent", "kind", "machine", "notify", "variant", "why", "zone"}


def _hostile(value: Any, key: str = "") -> Any:
    """The value with every text in it made hostile, but for those that are a choice or a time."""
    if isinstance(value, dict):
        return {name: _hostile(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_hostile(each) if isinstance(each, dict) else each for each in value]
    if isinstance(value, str) and key not in CHOICES and not value[:4].isdigit():
        return value + HOSTILE
    return value


def _poisoned() -> User:
    owner = harbour_with_everything()
    for label, fields in THEIRS.items():
        model: type[models.Model] = apps.get_model(label)
        for row in model._default_manager.all():
            for name in fields:
                value = _hostile(getattr(row, name), name)
                most = getattr(model._meta.get_field(name), "max_length", None)
                setattr(row, name, value[-most:] if most and isinstance(value, str) else value)
            row.save(update_fields=fields)
    owner.refresh_from_db()
    return owner


class _Markup(HTMLParser):
    """Collects the tags and attributes that a browser would make."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def test_no_text_becomes_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_page, "harbour_with_everything", _poisoned)
    pages = every_page.render_all()
    assert sum("&lt;xss" in page.html for page in pages) > len(pages) / 2
    for page in pages:
        markup = _Markup()
        markup.feed(page.html)
        assert not [each for each in markup.found if "xss" in each], page.path
