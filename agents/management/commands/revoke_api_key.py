"""`manage.py revoke_api_key LOOKUP` revokes a key immediately."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.keys import api_key_revoke
from agents.models import ApiKey


class Command(BaseCommand):
    help = "Revokes a key, named by the eight characters after `dsr_`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("lookup", metavar="LOOKUP", help="the eight characters after `dsr_`")

    def handle(self, *args: Any, **options: Any) -> None:
        lookup = options["lookup"].replace("\x00", "")
        key = ApiKey.objects.filter(lookup=lookup).first()
        if key is None:
            raise CommandError(f"There is no key “{lookup}”. Give the eight characters after `dsr_` alone.")
        self.stdout.write(
            f"Key {lookup} is revoked." if api_key_revoke(key=key) else f"Key {lookup} was revoked before."
        )
