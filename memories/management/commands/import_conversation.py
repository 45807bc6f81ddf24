"""`import_conversation FILE --agent SLUG` imports a long dated conversation as daily logs and memories."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.http.errors import DossierError
from memories.imports.base import count_phrase, progress_bar
from memories.imports.conversation import conversation_import, load_conversation
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = "Imports a dated conversation (JSON, in the format of LoCoMo). Importing again adds only what is new."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--agent", required=True, metavar="SLUG", help="created if it does not exist")

    def handle(self, *, file: Path, agent: str, **_: Any) -> None:
        try:
            sessions = load_conversation(file)
            turns = sum(len(session.turns) for session in sessions)
            with progress_bar("Importing", turns) as advance:
                imported = conversation_import(sessions=sessions, agent=agent, principal=SYSTEM, advance=advance)
        except DossierError as error:
            raise CommandError(error.detail) from error
        days = len({session.at.date() for session in sessions})
        self.stdout.write(
            f"{agent}: {count_phrase(len(sessions), 'session', 'sessions')}, {count_phrase(turns, 'turn', 'turns')}; "
            f"{count_phrase(days, 'daily log', 'daily logs')} ({imported.logs:,} changed), "
            f"{count_phrase(turns, 'memory', 'memories')} ({imported.memories:,} new)."
        )
