"""`heavy`: the process that `serve` keeps for costly requests, so that they make no others wait."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents.quotas.uses import FlushThread
from assembly.management.commands.web import load_everything
from config.observability.tracing import start_tracing
from config.server.heavy_server import AT_ONCE, COUNTED_SECONDS, MOST_EACH, THREADS, be_nice, serve_heavy
from config.server.limiter import Turns
from config.server.supervised_process import RENEWED
from config.server.threaded_handler import ThreadedHandler


class Command(BaseCommand):
    """Serves at a Unix socket until its input ends."""

    help = __doc__
    requires_system_checks: list[str] = []  # `serve` did them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--socket", type=Path, required=True, help="where requests come")

    def handle(self, *, socket: Path, **_: Any) -> None:
        be_nice()
        start_tracing()
        load_everything()
        application = ThreadedHandler(THREADS, Turns(AT_ONCE, COUNTED_SECONDS, MOST_EACH))
        with FlushThread():
            has_grown = serve_heavy(application, socket)
        if has_grown:
            sys.exit(RENEWED)
