"""An event as a person reads it: a sentence, and what is folded below it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memories.models import Event, EventType
from teams.guidance import Text

LONGEST_LINE = 300  # characters of a sentence
LONGEST_FOLD = 4_000  # characters of what is folded in a list

LABELS: dict[str, Text] = {
    EventType.FILE_READ: gettext_lazy("Read"),
    EventType.FILE_WRITE: gettext_lazy("Wrote"),
    EventType.SHELL_EXEC: gettext_lazy("Ran"),
    EventType.ERROR: gettext_lazy("Error"),
    EventType.MESSAGE: gettext_lazy("Message"),
    EventType.TOOL_RESULT: gettext_lazy("Tool"),
}
GOOD = frozenset({"success", "succeeded", "ok", "done", "passed", "complete", "completed"})
BAD = frozenset({"failure", "failed", "fail", "error", "timeout", "denied", "cancelled"})
# What the sentence and the folds of each type are made of: the keys that hold it, the usual one first.
SENTENCE: dict[str, tuple[str, ...]] = {
    EventType.FILE_READ: ("path", "file"),
    EventType.FILE_WRITE: ("path", "file"),
    EventType.SHELL_EXEC: ("command",),
    EventType.ERROR: ("message", "error"),
    EventType.MESSAGE: ("text", "content", "message"),
}
FOLDS: dict[str, Text] = {
    "stdout": gettext_lazy("Output"),
    "stderr": gettext_lazy("Error output"),
    "output": gettext_lazy("Output"),
    "stack": gettext_lazy("Stack"),
    "diff": gettext_lazy("Changes"),
    "content": gettext_lazy("Text"),
    "result": gettext_lazy("Result"),
}


@dataclass(frozen=True, slots=True)
class Fold:
    """A longer text below a title. `cut`: there is more of it on the event's own page."""

    label: Text
    text: str
    lines: int
    cut: bool


@dataclass(frozen=True, slots=True)
class EventWords:
    """`tone` is that of the outcome: good, bad or plain. `is_code`: the sentence is a path or a command."""

    event: Event
    label: Text
    icon: str
    sentence: str
    is_code: bool
    speaker: str
    tone: str
    folds: tuple[Fold, ...]


def words_of(event: Event, *, whole: bool = False) -> EventWords:
    """The event in words; `whole` cuts nothing."""
    content = event.content if isinstance(event.content, dict) else {"content": event.content}
    key = next((key for key in SENTENCE.get(event.type, ()) if isinstance(content.get(key), str)), "")
    sentence = event.tool if event.type == EventType.TOOL_RESULT else content.get(key, "")
    shown = {key} if whole or len(sentence) <= LONGEST_LINE else set()
    return EventWords(
        event=event,
        label=LABELS.get(event.type, event.type),
        icon=event.type if event.type in LABELS else "other",
        sentence=sentence if whole else Truncator(sentence).chars(LONGEST_LINE),
        is_code=event.type in {EventType.FILE_READ, EventType.FILE_WRITE, EventType.SHELL_EXEC, EventType.TOOL_RESULT},
        speaker=str(content.get("role", "")) if event.type == EventType.MESSAGE else "",
        tone=_tone(event.outcome),
        folds=tuple(_folds({name: value for name, value in content.items() if name not in shown}, whole)),
    )


def _tone(outcome: str) -> str:
    word = outcome.lower()
    return "good" if word in GOOD else "bad" if word in BAD else "plain"


def _folds(content: Mapping[str, Any], whole: bool) -> list[Fold]:
    """The long texts one by one, all the rest together as JSON."""
    long = {
        name: value for name, value in content.items() if name in FOLDS and isinstance(value, str) and value.strip()
    }
    rest = {name: value for name, value in content.items() if name not in long and value not in ("", None)}
    rest.pop("role", None)
    folds = [_fold(FOLDS[name], value, whole) for name, value in long.items()]
    if rest:
        folds.append(_fold(_("Details"), json.dumps(rest, indent=2, ensure_ascii=False), whole))
    return folds


def _fold(label: Text, text: str, whole: bool) -> Fold:
    cut = not whole and len(text) > LONGEST_FOLD
    return Fold(label, text[:LONGEST_FOLD] if cut else text, len(text.splitlines()), cut)
