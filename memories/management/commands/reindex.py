"""`reindex` creates jobs that make missing embeddings, those of another model, and missing passages of files."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Agent
from memories.embeddings.file_splitting import split_missing
from memories.embeddings.indexing import reindex
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = "Starts jobs per agent, and for all teams, that compute missing embeddings and split files into passages."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--agent", metavar="SLUG", help="this agent's alone")

    def handle(self, *, agent: str | None, **_: Any) -> None:
        chosen = Agent.objects.order_by("slug") if agent is None else Agent.objects.filter(slug=agent)
        if agent is not None and not chosen:
            raise CommandError(f"There is no agent “{agent}”. Check the name.")
        owners: list[Agent | None] = [*chosen, *([None] if agent is None else [])]
        for owner in owners:
            job = reindex(agent=owner, principal=SYSTEM)
            self.stdout.write(
                f"{owner.slug if owner else 'memories of teams'}: {job.steps:,} to embed, /jobs/{job.id}/"
            )
        if splitting := split_missing(agent=chosen.get() if agent else None, principal=SYSTEM):
            self.stdout.write(f"files and daily logs: {splitting.steps:,} to split, /jobs/{splitting.id}/")
