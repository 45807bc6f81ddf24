"""`export DIR|FILE.zip [--team SLUG | --agent SLUG]` exports a team, an agent or everything as Markdown."""

import os
from argparse import ArgumentParser
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.access import agent_for
from config.http.errors import DossierError
from memories.archive.folder import write_folder
from memories.archive.sections import ExportScope, entries_of, scope_of_agent, scope_of_everything, scope_of_team
from memories.archive.zip_file import write_zip
from memories.imports.base import count_phrase
from teams.access import team_for
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = (
        "Exports a team, an agent or everything as a folder or a zip of Markdown; the same data gives the same bytes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", type=Path, metavar="DIR|FILE.zip")
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--team", metavar="SLUG", help="this team alone")
        one.add_argument("--agent", metavar="SLUG", help="this agent alone")

    def handle(self, *, target: Path, team: str | None, agent: str | None, **_: Any) -> None:
        try:
            scope = _scope(team, agent)
            files = _write(scope, target)
            of = [] if scope.organisation else [team.id for team in scope.teams]
            detail = {"files": files}
            activity_record(SYSTEM, ActivityAction.EXPORT_DOWNLOADED, target.name, team_ids=of, detail=detail)
        except DossierError as error:
            raise CommandError(error.detail) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written ({error.strerror}).") from error
        self.stdout.write(f"{target}: {count_phrase(files, 'file', 'files')}.")


def _scope(team: str | None, agent: str | None) -> ExportScope:
    if team:
        return scope_of_team(team_for(SYSTEM, team), SYSTEM)
    return scope_of_agent(agent_for(SYSTEM, agent), SYSTEM) if agent else scope_of_everything(SYSTEM)


def _write(scope: ExportScope, target: Path) -> int:
    if target.suffix != ".zip":
        return write_folder(entries_of(scope), target)
    # The zip is written to a temporary file first, so that a failed export leaves the previous file intact.
    with NamedTemporaryFile(dir=target.resolve().parent, delete=False) as file:
        count = write_zip(entries_of(scope), file)
    os.chmod(file.name, 0o644)  # noqa: PTH101
    Path(file.name).replace(target)
    return count
