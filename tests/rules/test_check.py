"""What a check printed, however much of it."""

import time

from routines_app.rules.check import missing_command


def test_a_command_that_was_not_found_is_looked_for_in_no_time() -> None:
    """stderr may be one word of 200,000 characters, and a pattern holds the interpreter."""
    began = time.perf_counter()
    assert missing_command("a" * 200_000) == ""
    assert missing_command("a" * 200_000 + "\nbash: gti: command not found") == "gti"
    assert missing_command("env::foo: No such file or directory") == "foo"
    assert time.perf_counter() - began < 2
