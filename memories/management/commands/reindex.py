"""`reindex` creates jobs that make missing embeddings, and those of another model, in the background."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Agent
from memories.embeddings.indexing import reindex
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = "Starts a job per agent, and one for the memories of all teams, that computes missing embeddings."

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
