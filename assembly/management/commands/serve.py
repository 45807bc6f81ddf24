"""`serve`: everything a fresh machine needs, then web processes and a worker, until Ctrl-C."""

import contextlib
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.core.management.base import CommandParser
from django.db import connections

from agents.models import Agent
from config.db.backend.base import DatabaseWrapper
from config.db.distribution.distributed_tables import setting_mismatch
from config.observability.metrics_files import multiprocess_metrics
from config.server.connections import raise_descriptor_limit
from config.server.dispatcher import Dispatcher
from config.server.request_counts import FILE, REGION, REGIONS, RequestCounts, make_file
from config.server.supervised_process import (
    SOCKET_VARIABLE,
    HeavyProcess,
    SupervisedProcess,
    WebProcess,
    heavy_socket,
    shared_folder,
)
from memories.jobs.worker_process import WorkerProcess
from teams.models import Team, User

MAX_PROCESSES = 64
STOPPING = (signal.SIGTERM, signal.SIGINT)


class Command(BaseCommand):
    """Migrates, makes the first admin, loads the demo where asked, and serves."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--processes", type=int, default=settings.WEB_PROCESSES, choices=range(1, MAX_PROCESSES + 1), metavar="N"
        )
        parser.add_argument("--no-worker", action="store_true", help="do no jobs; run `work` elsewhere")
        parser.add_argument("--demo", action="store_true", help="load the demo data into an empty installation")

    def handle(self, *, host: str, port: int, processes: int, no_worker: bool, demo: bool, **_: Any) -> None:
        raise_descriptor_limit()
        # Whoever ends it, by Ctrl-C or SIGTERM, also ends the database that it started.
        for name in STOPPING:
            signal.signal(name, lambda *_: sys.exit(0))
        try:
            with _bind_socket(host, port) as door:
                self._prepare(demo=demo)
                opened = partial(self._say_where, host, door.getsockname()[1])
                reception = Dispatcher(door, opened=opened, processes=processes)
                with (
                    _closed_by_signals(reception),
                    multiprocess_metrics(processes + 1) as counts,
                    shared_folder() as folder,
                ):
                    heavy = HeavyProcess(heavy_socket(folder), counts)
                    variables = {**counts, SOCKET_VARIABLE: str(heavy_socket(folder))}
                    web = _web_processes(reception, processes, variables, folder)
                    with _supervised([*web, heavy, *([] if no_worker else [WorkerProcess(variables=counts)])]):
                        reception.run()
        finally:
            if settings.EMBEDDED_POSTGRES:
                settings.EMBEDDED_POSTGRES.detach(wait=True)

    def _prepare(self, *, demo: bool) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        if mismatch := setting_mismatch():
            raise CommandError(mismatch)
        call_command("collectstatic", verbosity=0, interactive=False)
        if demo and not (Team.objects.exists() or Agent.objects.exists()):
            call_command("load_demo")
        self._first_admin()
        for name in settings.DATABASES:  # from here on, only the processes that we start need any
            connections[name].close()
            cast("DatabaseWrapper", connections[name]).close_pool()

    def _say_where(self, host: str, port: int) -> None:
        self.stdout.write(f"Dossier is at http://{host}:{port}/  (Ctrl-C stops it)")
        self.stdout.flush()

    def _first_admin(self) -> None:
        if User.objects.filter(is_admin=True).exists():
            return
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser("admin", password, name="Admin")
        self.stdout.write(f"Sign in as  admin  with the password  {password}  (shown this once)")


def _bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address. Raises CommandError if the address is not available."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        door = socket.socket(family, kind, protocol)
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(address)
    except OSError as error:
        raise CommandError(f"Cannot listen on {host}:{port} ({error}). Choose another --port or --host.") from error
    return door


@contextlib.contextmanager
def _closed_by_signals(reception: Dispatcher) -> Iterator[None]:
    """Close the dispatcher on Ctrl-C and SIGTERM within the block, however often they come; ignore them afterwards.

    They must be ignored at the end: Python itself would die of a signal that comes during its shutdown.
    """
    for name in STOPPING:
        signal.signal(name, lambda *_: reception.close())
    yield
    for name in STOPPING:
        signal.signal(name, signal.SIG_IGN)


def _web_processes(
    reception: Dispatcher, processes: int, variables: Mapping[str, str], folder: Path
) -> list[WebProcess]:
    """Return this many web processes, each with its own region of the file in which requests are counted."""
    file = make_file(folder, processes)
    counted = RequestCounts(path=file, regions=processes)
    shared = {**variables, FILE: str(file), REGIONS: str(processes)}
    return [
        WebProcess(reception.admit, {**shared, REGION: str(region)}, partial(counted.clear, region))
        for region in range(processes)
    ]


@contextlib.contextmanager
def _supervised(processes: list[SupervisedProcess]) -> Iterator[None]:
    """Start the processes, run the block, and stop them all at the same time at its end."""
    try:
        for process in processes:
            process.start()
        yield
    finally:
        for process in processes:
            process.ask_to_stop()
        for process in processes:
            process.stop()
