"""`manage.py revoke_api_key LOOKUP`: the key is of no use from now on."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.models import ApiKey


class Command(BaseCommand):
    help = "Revokes a key, named by the eight characters after `dsr_`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("lookup", metavar="LOOKUP", help="the eight characters after `dsr_`")

    def handle(self, *args: Any, **options: Any) -> None:
        lookup = options["lookup"].replace("\x00", "")
        keys = ApiKey.objects.filter(lookup=lookup)
        if not keys.exists():
            raise CommandError(f"There is no key “{lookup}”. Give the eight characters after `dsr_` alone.")
        revoked = keys.filter(revoked=None).update(revoked=timezone.now())
        self.stdout.write(f"Key {lookup} is revoked." if revoked else f"Key {lookup} was revoked before.")
