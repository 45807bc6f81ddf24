"""`heavy`: the process that `serve` keeps for costly requests, so that they make no others wait."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agents.quotas.uses import FlushThread
from assembly.management.commands.web import load_everything
from config.observability.tracing import start_tracing
from config.server.heavy_server import (
    CONCURRENCY,
    COUNTED_SECONDS,
    MAX_PER_CALLER,
    THREADS,
    lower_priority,
    serve_heavy,
)
from config.server.limiter import FairLimiter
from config.server.supervised_process import RESTART_EXIT_CODE
from config.server.threaded_handler import ThreadedHandler


class Command(BaseCommand):
    """Runs the heavy process: it answers costly requests that the web processes pass over a Unix socket, and ends when
    its standard input is closed.
    """

    help = __doc__
    requires_system_checks: list[str] = []  # `serve` did them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--socket", type=Path, required=True, help="where requests come")

    def handle(self, *, socket: Path, **_: Any) -> None:
        lower_priority()
        start_tracing()
        load_everything()
        application = ThreadedHandler(THREADS, FairLimiter(CONCURRENCY, COUNTED_SECONDS, MAX_PER_CALLER))
        with FlushThread():
            has_grown = serve_heavy(application, socket)
        if has_grown:
            sys.exit(RESTART_EXIT_CODE)
