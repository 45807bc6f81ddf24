"""`work`: does jobs in the background, until Ctrl-C or SIGTERM."""

import os
import signal
import sys
import threading
import warnings
from typing import Any

from celery import current_app
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from memories.embeddings.wordllama import warm_up
from memories.jobs.periodic import start_periodic_tasks
from memories.jobs.worker_process import UNTIL_INPUT_ENDS, WorkerProcess

MAX_WORKERS = 64


class Command(BaseCommand):
    """One process per job that is done at a time, so that a job that kills its worker takes no other with it."""

    help = __doc__
    requires_system_checks: list[str] = []  # they load all pages and the API, of which a worker serves none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--concurrency", type=int, default=1, choices=range(1, MAX_WORKERS + 1), metavar="N")
        parser.add_argument(
            UNTIL_INPUT_ENDS, action="store_true", help="stop, too, when standard input ends, as with its other end"
        )

    def handle(self, *, concurrency: int, until_input_ends: bool, **_: Any) -> None:
        if until_input_ends:
            threading.Thread(target=_stop_with_input, name="input", daemon=True).start()
        try:
            _work() if concurrency == 1 else _supervise_workers(concurrency)
        finally:
            if settings.EMBEDDED_POSTGRES:
                settings.EMBEDDED_POSTGRES.detach(wait=True)


def _work() -> None:
    """Be a worker. Celery's `solo` pool does jobs in this very process: nothing is forked that holds connections."""
    if settings.EMBEDDED_POSTGRES:
        settings.EMBEDDED_POSTGRES.attach()  # the broker is in it, and does not start it
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # it would do Django's checks, too
    warnings.simplefilter("ignore", SecurityWarning)  # of being root: messages are JSON and hold an id
    setup_logging.connect(_keep_logging_setup)
    warm_up()
    start_periodic_tasks()
    worker = current_app.Worker(
        pool="solo", concurrency=1, quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True
    )
    worker.start()
    sys.exit(worker.exitcode)


def _supervise_workers(number: int) -> None:
    """Keep so many workers until a signal comes."""
    stopped = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stopped.set())
    workers = [WorkerProcess() for _ in range(number)]
    for worker in workers:
        worker.start()
    stopped.wait()
    for worker in workers:
        worker.ask_to_stop()
    for worker in workers:
        worker.stop()


def _stop_with_input() -> None:
    # Not sys.stdin, whose lock this thread would still hold when the interpreter ends.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _keep_logging_setup(**_: Any) -> None:
    """Celery sets up its own logging unless somebody says that this is done."""
