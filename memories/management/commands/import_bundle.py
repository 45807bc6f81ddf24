"""`import_bundle DIR|FILE.zip [--dry-run]` imports what `export` wrote, after showing what would change."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.http.errors import DossierError
from memories.archive.contents import ArchiveContents
from memories.archive.folder import read_folder
from memories.archive.plan import ImportPreview, ImportStep, apply_units, is_selected, preview_import
from memories.archive.sections import SECTIONS, ImportContext
from memories.archive.services import note_of
from memories.archive.zip_file import read_zip
from memories.imports.base import count_phrase, names_phrase, progress_bar
from teams.principal import SYSTEM

STATE_LABELS = {
    "new": "new      ",
    "changed": "changed  ",
    "newer": "left     ",
    "both": "left     ",
    "refused": "refused  ",
}
SKIP_REASONS = {
    "newer": "changed here since the export, and not in the archive",
    "both": "changed here and in the archive; --replace takes the archive's",
}


class Command(BaseCommand):
    help = "Imports a folder or zip of `export`; items that are not in it are not changed. --dry-run only reports."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, metavar="DIR|FILE.zip")
        parser.add_argument("--dry-run", action="store_true", help="tell what would change, and change nothing")
        parser.add_argument("--replace", action="store_true", help="also what was changed here since the export")

    def handle(self, *, source: Path, dry_run: bool, replace: bool, **_: Any) -> None:
        try:
            contents = _contents(source)
            shown = preview_import(contents, SYSTEM)
            for line in preview_lines(shown):
                self.stdout.write(line)
            if not dry_run:
                self._apply(contents, shown, source.name, replace=replace)
        except DossierError as error:
            raise CommandError(error.detail) from error

    @transaction.atomic
    def _apply(self, contents: ArchiveContents, shown: ImportPreview, name: str, *, replace: bool) -> None:
        chosen = {step.name for step in shown.steps} if replace else set[str]()
        steps = [step for step in shown.steps if is_selected(step, chosen)]
        stored = 0
        with progress_bar("Importing", len(steps)) as advance:
            for _, done, left in apply_units(contents, steps, ImportContext(SYSTEM, note_of(name), advance)):
                stored += done
                for one in left:
                    self.stdout.write(f"not done  {one.name}: {one.reason}")
        self.stdout.write(f"Imported: {count_phrase(stored, 'change', 'changes')}.")


def preview_lines(shown: ImportPreview) -> list[str]:
    """Return lines that say what an import would change, one per step, then the number of changes of each sort."""
    lines = [_line(step) for step in shown.steps]
    if shown.aside:
        lines.append(f"Left aside: {names_phrase(shown.aside)}. They are no part of an archive.")
    return [*lines, _summary(shown.steps, shown.same)]


def _line(step: ImportStep) -> str:
    why = step.reason or SKIP_REASONS.get(step.state, "")
    return f"{STATE_LABELS[step.state]} {step.name}{f': {why}' if why else ''}"


def _summary(steps: Sequence[ImportStep], same: int) -> str:
    if not steps:
        return f"No changes: {count_phrase(same, 'item', 'items')} unchanged."
    counts = Counter(STATE_LABELS[step.state].strip() for step in steps)
    parts = [f"{count:,} {word}" for word, count in sorted(counts.items())]
    return f"{', '.join(parts)}, {same:,} the same."


def _contents(source: Path) -> ArchiveContents:
    if source.is_file():
        return read_zip(source.read_bytes(), SECTIONS)
    return read_folder(source, SECTIONS)
