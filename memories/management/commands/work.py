"""`work` runs background jobs until Ctrl-C or SIGTERM."""

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
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.db.distribution.distributed_tables import setting_mismatch
from config.server.memory_settings import configure_garbage_collector
from memories.embeddings.wordllama import warm_up
from memories.jobs.periodic import start_periodic_tasks
from memories.jobs.worker_process import UNTIL_INPUT_ENDS, WorkerProcess, lower_priority

MAX_WORKERS = 64


class Command(BaseCommand):
    """Runs background jobs, one process per concurrent job, so that a job that kills its worker affects no other."""

    help = __doc__
    requires_system_checks = ["local_files"]  # others would load all pages and the API, which a worker does not serve

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
    """Run Celery's worker in this process. Its `solo` pool forks no process that would inherit database connections."""
    if settings.EMBEDDED_POSTGRES:
        settings.EMBEDDED_POSTGRES.attach()  # the broker is in this database and does not start it
    if mismatch := setting_mismatch():
        raise CommandError(mismatch)
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # Celery would run Django's checks, too
    warnings.simplefilter("ignore", SecurityWarning)  # about running as root: messages are JSON and hold an id only
    setup_logging.connect(_keep_logging_setup)
    warm_up()
    configure_garbage_collector()
    lower_priority()  # once it is ready, so that a busy machine does not delay its start
    start_periodic_tasks()
    worker = current_app.Worker(
        pool="solo", concurrency=1, quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True
    )
    worker.start()
    sys.exit(worker.exitcode)


def _supervise_workers(number: int) -> None:
    """Run this many worker processes until SIGTERM or SIGINT comes, then stop them."""
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
    # os.read, because a thread that reads sys.stdin would still hold its lock when the interpreter ends.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _keep_logging_setup(**_: Any) -> None:
    """Do nothing: a receiver of this signal keeps Celery from configuring logging of its own."""
