"""`serve`: everything a fresh machine needs, then the web server, until Ctrl-C."""

import secrets
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management import BaseCommand, call_command
from django.core.management.base import CommandParser

from memories.embedding import warm_up
from teams.models import User


class Command(BaseCommand):
    """Migrates, makes the first admin, loads the demo where asked, and serves."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--demo", action="store_true", help="load the demo data into an empty installation")

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        if options["demo"]:
            call_command("load_demo")
        self._first_admin()
        warm_up()
        self.stdout.write(f"Dossier is at http://{options['host']}:{options['port']}/  (Ctrl-C stops it)")
        self.stdout.flush()
        try:
            uvicorn.run(
                "config.asgi:application",
                host=options["host"],
                port=options["port"],
                log_level="warning",
                server_header=False,
            )
        finally:
            if settings.EMBEDDED_POSTGRES:
                settings.EMBEDDED_POSTGRES.detach(wait=True)

    def _first_admin(self) -> None:
        if User.objects.filter(is_admin=True).exists():
            return
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser("admin", password, name="Admin")
        self.stdout.write(f"Sign in as  admin  with the password  {password}  (shown this once)")
