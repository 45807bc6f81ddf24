"""`distribute` distributes the tables of owners over the workers of a PostgreSQL with Citus, and says who is where."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.models import Agent
from config.db.distribution.citus_rules import broken_rules, obstacles
from config.db.distribution.distributed_tables import STAYS
from config.db.distribution.distribution_plan import SHARDS, DistributionRefused, execute_plan, refuse, remaining_plan
from config.db.distribution.whereabouts import worker_of, workers
from memories.imports.base import count_phrase
from teams.models import Team

MOST_SHARDS = 4096
NAMED = 20
"""The number of owners of a worker that are named; the others are counted."""


class Command(BaseCommand):
    help = (
        "Distributes memories, events and documents over the workers of a PostgreSQL with Citus, by their owner. Stop"
        " all other processes before. If it is interrupted, start it again to continue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shards", type=int, default=SHARDS, help=f"shards of each table, {SHARDS} by default")
        parser.add_argument("--plan", action="store_true", help="shows what would be executed, and what forbids it")
        parser.add_argument("--where", action="store_true", help="which workers have whose rows")
        parser.add_argument("--owner", help="with --where: only the worker of this agent or team, by slug")

    def handle(self, *, shards: int, plan: bool, where: bool, owner: str | None, **_: Any) -> None:
        if not 1 <= shards <= MOST_SHARDS:
            raise CommandError(f"Name 1 to {MOST_SHARDS} shards.")
        if owner is not None and not where:
            raise CommandError("--owner belongs to --where.")
        try:
            if where:
                self._tell_where(owner)
            elif plan:
                self._show(shards)
            else:
                self._execute(shards)
        except DistributionRefused as error:
            raise CommandError(str(error)) from error

    def _show(self, shards: int) -> None:
        against = obstacles()
        try:
            found = remaining_plan(shards)
        except DistributionRefused:
            refuse(against)  # which say why, and what to do
            raise
        if found.prepare:
            self.stdout.write("-- In one transaction, plain PostgreSQL:")
        for statement in found.prepare:
            self.stdout.write(f"{statement};")
        if found.distribute:
            self.stdout.write("-- One by one, by Citus:")
        for statement in found.distribute:
            self.stdout.write(f"{statement};")
        for table, reason in STAYS.items():
            self.stdout.write(f"-- {table} stays on the coordinator. {reason}")
        against += [] if found.prepare else broken_rules()
        for sentence in against:
            self.stdout.write(f"-- Not yet: {sentence}")
        if not found.prepare and not found.distribute and not against:
            self.stdout.write("-- Nothing is left to be done.")

    def _execute(self, shards: int) -> None:
        done = execute_plan(shards, self.stdout.write)
        self.stdout.write(
            f"The installation is distributed, by {count_phrase(done, 'statement', 'statements')}."
            if done
            else "The installation is distributed already."
        )

    def _tell_where(self, owner: str | None) -> None:
        if owner is None:
            for one in workers():
                size = f"{one.size / 1_000_000:,.0f} MB"
                self.stdout.write(f"{one.address} has {count_phrase(one.shards, 'shard', 'shards')}, {size}:")
                self.stdout.write(f"  {_named(one.agents, 'agent')}")
                self.stdout.write(f"  {_named(one.teams, 'team')}")
            return
        owners: list[Agent | Team] = [*Agent.objects.filter(slug=owner), *Team.objects.filter(slug=owner)]
        if not owners:
            raise CommandError(f"There is no agent and no team {owner}.")
        for found in owners:
            kind = "agent" if isinstance(found, Agent) else "team"
            self.stdout.write(f"The rows of {kind} {owner} are on {worker_of(found.pk)}.")


def _named(slugs: tuple[str, ...], kind: str) -> str:
    more = f" and {len(slugs) - NAMED:,} more" if len(slugs) > NAMED else ""
    phrase = count_phrase(len(slugs), kind, f"{kind}s")
    return f"{phrase}: {', '.join(slugs[:NAMED])}{more}" if slugs else phrase
