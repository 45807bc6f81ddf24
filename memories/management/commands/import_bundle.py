"""`import_bundle DIR|FILE.zip [--dry-run]`: takes over what `export` wrote, and tells beforehand what would change."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.http.errors import DossierError
from memories.archive.contents import Contents
from memories.archive.folder import folder_contents
from memories.archive.plan import Shown, Step, shown_of, taken, units_apply
from memories.archive.sections import ROOMS, Storing
from memories.archive.services import note_of
from memories.archive.zip_file import zip_contents
from memories.imports.base import counted, listed, progress_bar
from teams.principal import SYSTEM

WORDS = {
    "new": "new      ",
    "changed": "changed  ",
    "newer": "left     ",
    "both": "left     ",
    "refused": "refused  ",
}
WHY_LEFT = {
    "newer": "changed here since the export, and not in the archive",
    "both": "changed here and in the archive; --replace takes the archive's",
}


class Command(BaseCommand):
    help = "Imports a folder or zip that `export` wrote; what is not in it stays. --dry-run only tells."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, metavar="DIR|FILE.zip")
        parser.add_argument("--dry-run", action="store_true", help="tell what would change, and change nothing")
        parser.add_argument("--replace", action="store_true", help="also what was changed here since the export")

    def handle(self, *, source: Path, dry_run: bool, replace: bool, **_: Any) -> None:
        try:
            contents = _contents(source)
            shown = shown_of(contents, SYSTEM)
            for line in told(shown):
                self.stdout.write(line)
            if not dry_run:
                self._apply(contents, shown, source.name, replace=replace)
        except DossierError as error:
            raise CommandError(error.detail) from error

    @transaction.atomic
    def _apply(self, contents: Contents, shown: Shown, name: str, *, replace: bool) -> None:
        chosen = {step.name for step in shown.steps} if replace else set[str]()
        steps = [step for step in shown.steps if taken(step, chosen)]
        stored = 0
        with progress_bar("Importing", len(steps)) as advance:
            for _, done, left in units_apply(contents, steps, Storing(SYSTEM, note_of(name), advance)):
                stored += done
                for one in left:
                    self.stdout.write(f"not done  {one.name}: {one.reason}")
        self.stdout.write(f"Imported: {counted(stored, 'change', 'changes')}.")


def told(shown: Shown) -> list[str]:
    """What would change, a line for each thing, then how many there are of each sort."""
    lines = [_line(step) for step in shown.steps]
    if shown.aside:
        lines.append(f"Left aside: {listed(shown.aside)}. They are no part of an archive.")
    return [*lines, _summary(shown.steps, shown.same)]


def _line(step: Step) -> str:
    why = step.reason or WHY_LEFT.get(step.state, "")
    return f"{WORDS[step.state]} {step.name}{f': {why}' if why else ''}"


def _summary(steps: Sequence[Step], same: int) -> str:
    if not steps:
        return f"Nothing would change: {counted(same, 'thing is', 'things are')} the same."
    counts = Counter(WORDS[step.state].strip() for step in steps)
    parts = [f"{count:,} {word}" for word, count in sorted(counts.items())]
    return f"{', '.join(parts)}, {same:,} the same."


def _contents(source: Path) -> Contents:
    if source.is_file():
        return zip_contents(source.read_bytes(), ROOMS)
    return folder_contents(source, ROOMS)
