"""`load_demo`: fills an empty Dossier with a fictional company, so that there is something to look at."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from assembly.demo.loading import demo_load, load_plan
from assembly.demo.past import DAYS
from config.http.errors import Conflict
from memories.imports.base import progress_bar


class Command(BaseCommand):
    help = "Loads two teams, four agents and thirty days of contexts; does nothing where any team or agent exists."

    def handle(self, **_: Any) -> None:
        plan = load_plan()
        try:
            with progress_bar("Loading the demo", plan.steps) as advance:
                demo_load(plan=plan, now=timezone.now(), advance=advance)
        except Conflict as conflict:
            self.stdout.write(conflict.detail)
            return
        self.stdout.write(
            f"Loaded {len(plan.teams)} teams, {len(plan.agents)} agents, {len(plan.people)} people who cannot sign in, "
            f"and {len(plan.contexts)} contexts after {DAYS} days of past."
        )
