"""`manage.py create_api_key --agent ada` or `--admin` creates a key and prints it once."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent, ApiKey

MAX_NAME_CHARACTERS = 120
MAX_DAYS = 3650


class Command(BaseCommand):
    help = "Creates an API key and prints it as the last word. It is not shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--agent", metavar="SLUG", help="the agent that the key speaks for")
        whose.add_argument("--admin", action="store_true", help="a key that may do everything")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=ApiKey.Scope.values,
            help="an additional permission of an agent's key; can be repeated",
        )
        parser.add_argument("--name", default="", help="what the key is for, as shown to people")

        parser.add_argument(
            "--expires-days",
            type=int,
            metavar="DAYS",
            help=f"how many days it is valid, 1 to {MAX_DAYS}; by default it does not expire",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["admin"] and options["scope"]:
            raise CommandError("An admin's key may do everything. Leave --scope out.")
        if len(options["name"]) > MAX_NAME_CHARACTERS:
            raise CommandError(f"The name is too long. Use at most {MAX_NAME_CHARACTERS} characters.")
        days = options["expires_days"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"Give --expires-days 1 to {MAX_DAYS}, or leave it out for a key that does not expire.")
        agent = None if options["admin"] else _agent(options["agent"])
        row, key = api_key_create(
            agent=agent,
            name=options["name"],
            scopes=sorted(set(options["scope"])),
            expires=timezone.now() + timedelta(days=days) if days else None,
        )
        whose = f"agent “{agent.slug}”" if agent else "an admin"
        until = f", valid until {row.expires:%Y-%m-%d %H:%M} UTC" if row.expires else ""
        self.stdout.write(f"Key {row.lookup} for {whose}{until}. Store it safely, it is not shown again: {key}")


def _agent(slug: str) -> Agent:
    agent = Agent.objects.filter(slug=slug).first() if "\x00" not in slug else None
    if agent is None:
        known = ", ".join(Agent.objects.order_by("slug").values_list("slug", flat=True)[:20])
        raise CommandError(
            f"There is no agent “{slug}”. "
            + (f"Use one of: {known}." if known else "Create one first: POST /api/v1/agents with an admin's key.")
        )
    return agent
