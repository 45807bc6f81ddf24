"""`import_records DIR --agent SLUG` imports an agent's records other than its files: events, graph, documents, …."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.http.errors import DossierError
from memories.imports.base import count_phrase, names_phrase, progress_bar
from memories.imports.record_folder import RecordFolder, load_records
from memories.imports.record_import import RecordImport, records_import
from memories.imports.record_kinds import RECORD_KINDS
from teams.principal import SYSTEM

IN_THE_BACKGROUND = (
    "Documents are split and embedded in the background; search finds them then. `serve` does it, and so does `work`."
)


class Command(BaseCommand):
    help = "Imports a folder of sessions.jsonl, events.jsonl, documents/ …; importing again adds only what is new."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--agent", required=True, metavar="SLUG", help="created if it does not exist")

    def handle(self, *, folder: Path, agent: str, **_: Any) -> None:
        try:
            records = load_records(folder)
            with progress_bar("Importing", records.size) as advance:
                stored = records_import(records=records, agent=agent, principal=SYSTEM, advance=advance)
        except DossierError as error:
            raise CommandError(error.detail) from error
        if records.ignored_names:
            names = names_phrase(records.ignored_names)
            self.stdout.write(f"Skipped: {names}. They are not records, or hidden, or not valid text.")
        self.stdout.write(_summary(records, stored, agent))
        if stored.new["documents"] + stored.changed_documents:
            self.stdout.write(IN_THE_BACKGROUND)


def _summary(records: RecordFolder, stored: RecordImport, agent: str) -> str:
    parts = [
        f"{count_phrase(len(lines), kind.endpoint.word, kind.endpoint.name)} ({stored.new[kind.endpoint.name]:,} new)"
        for kind in RECORD_KINDS
        if (lines := records.lines[kind.endpoint.name])
    ]
    if documents := len(records.documents):
        new, changed = stored.new["documents"], stored.changed_documents
        parts.append(f"{count_phrase(documents, 'document', 'documents')} ({new:,} new, {changed:,} changed)")
    return f"{agent}: {', '.join(parts)}."
