"""`serve`: everything a fresh machine needs, then the web server and a worker, until Ctrl-C."""

import secrets
import signal
import sys
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management import BaseCommand, call_command
from django.core.management.base import CommandParser

from agents.models import Agent
from memories.embedding import warm_up
from memories.worker_process import WorkerProcess
from teams.models import Team, User


class Command(BaseCommand):
    """Migrates, makes the first admin, loads the demo where asked, and serves."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-worker", action="store_true", help="do no jobs; run `work` elsewhere")
        parser.add_argument("--demo", action="store_true", help="load the demo data into an empty installation")

    def handle(self, *args: Any, **options: Any) -> None:
        # Whoever ends it, by Ctrl-C or SIGTERM, also ends the database that it started.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        worker = WorkerProcess()
        try:
            self._prepare(demo=options["demo"])
            if not options["no_worker"]:
                worker.start()
            self._serve(options["host"], options["port"])
        finally:
            worker.stop()
            if settings.EMBEDDED_POSTGRES:
                settings.EMBEDDED_POSTGRES.detach(wait=True)

    def _prepare(self, *, demo: bool) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        if demo and not (Team.objects.exists() or Agent.objects.exists()):
            call_command("load_demo")
        self._first_admin()
        warm_up()

    def _serve(self, host: str, port: int) -> None:
        self.stdout.write(f"Dossier is at http://{host}:{port}/  (Ctrl-C stops it)")
        self.stdout.flush()
        # Without a set-up of its own, uvicorn logs as everything else does.
        config = uvicorn.Config(
            "config.asgi:application",
            host=host,
            port=port,
            log_config=None,
            log_level="warning",
            server_header=False,
        )
        server = uvicorn.Server(config)

        # A signal that comes before the server's own handlers are there, or after they are gone, asks for the same.
        def stop(*_: object) -> None:
            server.should_exit = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        server.run()

    def _first_admin(self) -> None:
        if User.objects.filter(is_admin=True).exists():
            return
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser("admin", password, name="Admin")
        self.stdout.write(f"Sign in as  admin  with the password  {password}  (shown this once)")
