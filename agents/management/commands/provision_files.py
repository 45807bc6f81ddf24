"""`manage.py provision_files` creates missing files of teams and agents. It can run twice, also at the same time."""

from collections.abc import Callable, Iterator
from typing import Any

from django.core.management.base import BaseCommand
from django.db.models import Count, Model, QuerySet

from agents.models import Agent, AgentFile
from agents.services import agent_files_provision
from teams.models import Team, TeamFile
from teams.services import team_files_provision

BATCH_ROWS = 200


class Command(BaseCommand):
    help = "Gives teams and agents the files that they lack; an agent's legacy instructions move into INSTRUCTIONS."

    def handle(self, *args: Any, **options: Any) -> None:
        teams = _provision(_without_files(Team.objects.all(), len(TeamFile.Key)), team_files_provision)
        agents = _provision(_without_files(Agent.objects.all(), len(AgentFile.Key)), agent_files_provision)
        self.stdout.write(f"Added {teams} files to teams and {agents} files to agents.")


def _without_files(owners: "QuerySet[Any]", files: int) -> "QuerySet[Any]":
    lacking: QuerySet[Any] = owners.annotate(file_count=Count("files")).filter(file_count__lt=files)
    return lacking.order_by("id")


def _provision(lacking: "QuerySet[Any]", provision: Callable[[list[Any]], int]) -> int:
    return sum(provision(batch) for batch in _batches(lacking))


def _batches(owners: "QuerySet[Any]") -> Iterator[list[Model]]:
    after: dict[str, Any] = {}
    while batch := list(owners.filter(**after)[:BATCH_ROWS]):
        yield batch
        after = {"id__gt": batch[-1].pk}
