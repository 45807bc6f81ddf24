"""`find_conflicts` has workers compare all texts with those near them in meaning."""

from typing import Any

from django.core.management.base import BaseCommand

from assembly.conflicts.find import conflicts_find_all


class Command(BaseCommand):
    help = (
        "Creates jobs that compare all memories, entities, documents and files with those near them in meaning, and "
        "store the conflicts that they find: after an upgrade, or after the comparison or the embedder was changed. "
        "Texts that are saved later are compared by themselves. What people decided stays decided."
    )

    def handle(self, **_: Any) -> None:
        items = 0
        for job in conflicts_find_all():
            items += job.steps
        self.stdout.write(f"{items:,} items: workers compare them.")
