#!/usr/bin/env python
"""Django's command line for Routines."""

import os
import signal
import sys
from pathlib import Path


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "routines_app.settings")
    if sys.argv[1:2] == ["up"]:
        code = up()
        # A turn that outlasted the drain is still in its thread, and would hold us back.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if sys.argv[1:2] == ["stack"]:
        from routines_app.management import stack

        sys.exit(stack.main(sys.argv[2:]))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


def up() -> int:
    """`make up`: the folder, the port and the database first, then everything on them.

    Returns the exit code.
    """
    from foundation.embedded import CannotStart, stand

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))  # until the command takes them over
    try:
        with stand(Path(__file__).resolve().parent / "var"):
            from django.core.management import execute_from_command_line

            execute_from_command_line(sys.argv)
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


if __name__ == "__main__":
    main()
