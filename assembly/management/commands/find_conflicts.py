"""`find_conflicts` has workers compare all texts with those near them in meaning."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from assembly.conflicts.find import conflicts_find_all
from assembly.models import UncomparedItem


class Command(BaseCommand):
    help = (
        "Has workers compare all memories, entities, documents and files with those near them in meaning, and store "
        "the conflicts that they find: after an upgrade, or after the comparison or the embedder was changed. Texts "
        "that are saved later are compared by themselves, and before these. What people decided stays decided."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--status", action="store_true", help="say only how many items still wait")

    def handle(self, *, status: bool, **_: Any) -> None:
        if not status:
            self.stdout.write(f"{conflicts_find_all():,} items: workers compare them, after what is saved meanwhile.")
        self.stdout.write(f"{UncomparedItem.objects.count():,} items wait to be compared.")
