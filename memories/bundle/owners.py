"""What the folders of agents and teams have in common: texts, memories, and a file of settings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.models import Agent
from memories.bundle.marks import State, mark_of, mark_of_facts, state_of
from memories.bundle.memory_values import memory_written
from memories.bundle.rooms import Change, Entry, Unit
from memories.bundle.settings_file import Settings, settings_later
from memories.services import Owner, memories_of
from memories.spaces import SLOTS
from memories.workspace_folder import MEMORY_FILE
from teams.models import Team

ROWS_PER_STATEMENT = 500
TITLE = "# Memories\n"
NAMES: Mapping[type[Any], str] = {Agent: "agent", Team: "team"}


def owner_entries(
    owner: Owner, folder: str, texts: Iterable[tuple[str, str]], settings: Mapping[str, Any]
) -> Iterator[Entry]:
    """The files of one owner: its texts, then its memories, then its settings with the marks of all texts."""
    marks = dict[str, str]()
    for within, content in texts:
        marks[within] = mark_of(content)
        yield Entry(f"{folder}/{within}", [content])
    if memories_of(owner).exists():
        yield Entry(f"{folder}/{MEMORY_FILE}", _memory_pieces(owner))
    yield Entry(f"{folder}/{NAMES[type(owner)]}.json", settings_later(settings, marks))


def _memory_pieces(owner: Owner) -> Iterator[str]:
    yield TITLE
    for memory in in_order(memories_of(owner).defer(*SLOTS, "search"), "id"):
        yield "\n" + memory_written(memory)


def in_order(rows: Any, key: str) -> Iterator[Any]:
    """The rows by a column that is unique among them, some at a time, however many there are."""
    batch = list(rows.order_by(key)[:ROWS_PER_STATEMENT])
    while batch:
        yield from batch
        after = {f"{key}__gt": getattr(batch[-1], key)}
        batch = list(rows.filter(**after).order_by(key)[:ROWS_PER_STATEMENT])


def settings_change(
    *,
    unit: Unit,
    within: str,
    settings: Settings,
    here: Mapping[str, Any] | None,
    version: int,
    wanted: Mapping[str, Any],
) -> Iterator[Change]:
    """What importing the settings would do: `wanted` instead of what is `here`."""
    name = unit.path(within)
    if settings.reason:
        yield Change(name=name, what="settings", state=State.REFUSED, version=version, reason=settings.reason)
    if here is None or settings.reason or within not in unit.files:
        return
    state = state_of(exported=settings.mark, incoming=mark_of_facts(wanted), here=mark_of_facts(here))
    yield Change(
        name=name, what="settings", state=state, version=version, before=said(here), after=said(wanted), item=wanted
    )


def said(values: Mapping[str, Any]) -> str:
    """Settings as people read them, one per line."""
    plain = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    return "\n".join(f"{name}: {value}" for name, value in plain.items())
