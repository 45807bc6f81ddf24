"""`derive_levels` has workers derive the levels of detail of all texts that have none yet."""

from typing import Any

from django.core.management.base import BaseCommand

from assembly.pipeline.level_derivation import levels_derive_all


class Command(BaseCommand):
    help = (
        "Creates jobs that derive the missing levels of detail of all memories, documents, files and logs: after an "
        "upgrade, or after a summariser was configured. Texts that are saved later get theirs by themselves."
    )

    def handle(self, **_: Any) -> None:
        items = 0
        for job in levels_derive_all():
            items += job.steps
        self.stdout.write(f"{items:,} items: workers derive the levels that are missing.")
