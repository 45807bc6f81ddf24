"""The demo's texts: workspaces like any other, but for their days, which are counted from today.

`memory/day-3.md` is the log of three days ago; what stands in the texts is told by `dates`.
"""

import datetime
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from assembly.demo.dates import days_dated
from memories.services import MemoryFacts
from memories.workspace_folder import Workspace, workspace_read

FOLDER = Path(__file__).parent
LOG_NAME = re.compile(r"day-([0-9]+)")
BETWEEN_MEMORIES = datetime.timedelta(hours=20)


def workspace_of(folder: Path, today: datetime.date) -> Workspace:
    """What the folder holds, its days moved to dates. Raises ImportRefused."""
    with TemporaryDirectory() as name:
        dated = Path(name)
        (dated / "memory").mkdir()
        for path in [*folder.glob("*.md"), *folder.glob("memory/*.md")]:
            target = dated / path.relative_to(folder).with_stem(_dated_name(path.stem, today))
            target.write_text(days_dated(path.read_text(encoding="utf-8"), today), encoding="utf-8")
        return workspace_read(dated)


def aged(memories: tuple[MemoryFacts, ...], now: datetime.datetime) -> list[MemoryFacts]:
    """The memories, each somewhat older than the one after it, so that some are recent and some are not."""
    return [
        replace(facts, occurred_at=now - BETWEEN_MEMORIES * before)
        for before, facts in zip(range(len(memories), 0, -1), memories, strict=True)
    ]


def _dated_name(stem: str, today: datetime.date) -> str:
    match = LOG_NAME.fullmatch(stem)
    return (today - datetime.timedelta(days=int(match[1]))).isoformat() if match else stem
