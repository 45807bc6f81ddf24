"""The demo's records: folders like any other, but for their days and moments, which are counted from now."""

import datetime
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from agents.models import Agent
from assembly.demo.dates import days_dated, moments_dated
from memories.indexing import document_split
from memories.models import Document
from memories.records import Records, records_import, records_read
from memories.services.document import document_update
from teams.principal import SYSTEM


def records_of(folder: Path, now: datetime.datetime) -> Records:
    """What the folder holds, dated. `now` is in the agent's time zone. Raises ImportRefused."""
    with TemporaryDirectory() as name:
        dated = Path(name)
        for path in folder.rglob("*"):
            if path.is_file():
                target = dated / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = days_dated(path.read_text(encoding="utf-8"), now.date())
                target.write_text(moments_dated(text, now), encoding="utf-8")
        return records_read(dated)


def agent_records_load(*, agent: Agent, folder: Path, is_open: Collection[str], now: datetime.datetime) -> None:
    """Store the folder's records for the agent, if there is one. `is_open` are the paths of its open documents.

    Documents are split here and now: a newcomer looks for them at once, and no worker may be running yet.
    """
    if not folder.is_dir():
        return
    records = records_of(folder, now.astimezone(ZoneInfo(agent.timezone)))
    records_import(records=records, agent=agent.slug, principal=SYSTEM, advance=lambda _: None)
    for document in Document.objects.filter(agent=agent):
        if document.path in is_open:
            changes = {"is_open": True}
            document_update(thing=document, expected_version=document.version, changes=changes, principal=SYSTEM)
        document_split(id_=document.id)
