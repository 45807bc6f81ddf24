#!/usr/bin/env python
"""Runs Dossier's management commands: `python manage.py help` lists them."""

import os
import signal
import sys


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["serve"]:
        # Until the command sees to it, Ctrl-C ends it at once, as SIGTERM does: nothing is open yet, and an exception
        # that is raised while Python imports may get lost.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - it imports half of Django

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
