"""`import_workspace DIR --agent SLUG [--team SLUG]` imports a folder of an agent's Markdown files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.http.errors import DossierError
from memories.archive.memory_markdown import MemoryFile
from memories.imports.base import count_phrase, names_phrase, progress_bar
from memories.imports.workspace import Workspace, WorkspaceImport, load_workspace, workspace_import
from teams.principal import SYSTEM


class Command(BaseCommand):
    help = "Imports a folder of IDENTITY.md, MEMORY.md, memory/2026-03-14.md …; importing again adds only what is new."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--agent", required=True, metavar="SLUG", help="created if it does not exist")
        parser.add_argument(
            "--team", metavar="SLUG", help="gets GOALS.md, CONTEXT.md and RULES.md; created if it does not exist"
        )

    def handle(self, *, folder: Path, agent: str, team: str | None, **_: Any) -> None:
        try:
            workspace = load_workspace(folder)
            with progress_bar("Importing", workspace.size) as advance:
                imported = workspace_import(
                    workspace=workspace, agent=agent, team=team, principal=SYSTEM, advance=advance
                )
        except DossierError as error:
            raise CommandError(error.detail) from error
        for sentence in _skipped_lines(workspace, team):
            self.stdout.write(sentence)
        self.stdout.write(_summary(workspace, imported, agent, team))


def _summary(workspace: Workspace, imported: WorkspaceImport, agent: str, team: str | None) -> str:
    files = len(workspace.agent_files) + (len(workspace.team_files) if team else 0)
    return (
        f"{agent}{f' in {team}' if team else ''}: {count_phrase(files, 'file', 'files')} "
        f"({imported.files} changed), "
        f"{count_phrase(len(workspace.logs), 'daily log', 'daily logs')} ({imported.logs:,} changed), "
        f"{count_phrase(len(workspace.lines.memories), 'memory', 'memories')} ({imported.memories:,} new)."
    )


def _skipped_lines(workspace: Workspace, team: str | None) -> list[str]:
    sentences = []
    if workspace.team_files and not team:
        names = names_phrase([f"{key}.md" for key in workspace.team_files])
        sentences.append(f"Left aside: {names}. They belong to a team; name it with --team.")
    if workspace.ignored_names:
        sentences.append(f"Left aside: {names_phrase(workspace.ignored_names)}. They are no part of a workspace.")
    return sentences + _ignored_lines(workspace.lines)


def _ignored_lines(lines: MemoryFile) -> list[str]:
    numbers = names_phrase([str(line) for line in lines.other])
    parts = [
        count_phrase(len(lines.headings), "heading", "headings") if lines.headings else "",
        count_phrase(len(lines.blank), "blank line", "blank lines") if lines.blank else "",
        count_phrase(lines.repeated, "repeated memory", "repeated memories") if lines.repeated else "",
        f"{count_phrase(len(lines.other), 'other line', 'other lines')} ({numbers})" if lines.other else "",
    ]
    named = ", ".join(part for part in parts if part)
    return [f"Passed over in MEMORY.md: {named}."] if named else []
