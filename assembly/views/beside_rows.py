"""Two contexts beside each other in the words and shapes of their page. Pure: everything comes in as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from assembly.again.beside import Beside
from assembly.again.beside_words import count_sentence, ranks_otherwise, side_warnings
from assembly.again.cause import KINDS, Cause
from assembly.again.cause_words import cause_sentence
from assembly.again.explaining import Explained, deeds_of
from assembly.again.settings import Name, Setting
from assembly.comparing import Change, Effect
from assembly.engine.codes import Code
from assembly.engine.types import Candidate
from assembly.views.explanation import Tag
from assembly.views.sight_words import sight_rows
from assembly.views.titles import reason, title_of
from assembly.warnings import label_of
from teams.differences.comparison import compared

UNNAMED = frozenset(kind for kind in KINDS if kind.startswith(("memory", "thing")))
"""The sentences of these causes do not name the thing."""
SHOWN = 12
"""Changes that are shown at once; the others are folded away."""
TAGS: Mapping[Effect, tuple[str, str]] = {
    "in": ("comes in", "good"),
    "out": ("goes", "bad"),
    "moved": ("moves", "plain"),
    "changed": ("told otherwise", "plain"),
}
SETTINGS: Mapping[Name, str] = {
    "topic": "Topic",
    "budget": "Budget in tokens",
    "tokenizer": "Counted by",
    "profile": "Profile",
    "section": "Section",
    "rules": "Rules that applied",
    "day": "Day",
    "left_out_by_request": "Left out by the request",
}


@dataclass(frozen=True, slots=True)
class CauseRow:
    """A cause in words, and where what changed can be looked at; "" where nowhere."""

    sentence: str
    address: str = ""
    title: str = ""
    """What the thing is called, where the sentence does not name it."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What becomes of one item, and why."""

    tag: Tag
    title: str
    section: str
    layer: str
    why: str
    """The reason for its fate in the later context; "" where it is simply in."""
    causes: tuple[CauseRow, ...]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """By what both were made, where it is not the same. "" stands for nothing."""

    label: str
    before: str
    after: str


Addresses = Mapping[Cause, str]
NOWHERE: Addresses = {}


def beside_page(
    beside: Beside, causes: Sequence[tuple[Cause, ...]] = (), addresses: Addresses = NOWHERE
) -> dict[str, Any]:
    """All that templates/assembly/_beside.html takes. `causes`: of each change, in the same order, where they are
    known."""
    rows = change_rows(beside, causes, addresses)
    return {
        "beside": beside,
        "headline": count_sentence(beside),
        "tone": "plain" if beside.is_same else "warn" if beside.comparison.pushed_out else "good",
        "settings": [_setting(one) for one in beside.settings],
        "rows": sight_rows(beside),
        "changes": rows[:SHOWN],
        "more_changes": rows[SHOWN:],
        "new_warnings": [
            message for code, message in side_warnings(beside.after) if code not in beside.before.warnings
        ],
        "troubles": _troubles(beside),
        "difference": compared(beside.before.content, beside.after.content, source=True),
    }


def change_rows(beside: Beside, causes: Sequence[tuple[Cause, ...]], addresses: Addresses) -> list[ChangeRow]:
    """What comes in, goes, moves, or is told otherwise."""
    candidates: dict[tuple[str, str], Candidate] = {**beside.before.candidates, **beside.after.candidates}
    titles = {ref: title_of(one) for (_section, ref), one in candidates.items()}
    sections = {one.section.key: one.section for one in beside.comparison.sections}
    known = causes or [()] * len(beside.comparison.changes)
    rows = []
    for change, mine in zip(beside.comparison.changes, known, strict=True):
        section = sections[change.decision.section]
        rows.append(
            ChangeRow(
                tag=_tag(change),
                title=titles[change.decision.ref],
                section=section.label,
                layer=section.layer.lower(),
                why=_why(change, section.label, titles),
                causes=cause_rows(mine, addresses),
            )
        )
    return rows


def cause_rows(causes: Sequence[Cause], addresses: Addresses) -> tuple[CauseRow, ...]:
    """The causes in words."""
    return tuple(CauseRow(cause_sentence(cause), addresses.get(cause, "")) for cause in causes)


def deed_rows(beside: Beside, changes: Sequence[Explained], addresses: Addresses) -> list[CauseRow]:
    """What was changed since, each thing once and by its title."""
    candidates: dict[tuple[str, str], Candidate] = {**beside.before.candidates, **beside.after.candidates}
    titles: dict[Cause, str] = {}
    for change, causes in changes:
        decision = change.decision
        for cause in causes:
            titles.setdefault(cause, title_of(candidates[decision.section, decision.ref]))
    return [
        CauseRow(cause_sentence(cause), addresses.get(cause, ""), titles[cause] if cause.kind in UNNAMED else "")
        for cause in deeds_of(changes)
    ]


def _tag(change: Change) -> Tag:
    if change.is_cut:
        return Tag(_("cut"), "warn")
    if change.is_whole_again:
        return Tag(_("whole again"), "good")
    if ranks_otherwise(change):
        return Tag(_("ranks otherwise"), "plain")
    label, tone = TAGS[change.effect]
    return Tag(_(label), tone)


def _why(change: Change, label: str, titles: Mapping[str, str]) -> str:
    after = change.after
    if after is None:
        return _("It is not among what was considered.")
    if after.code in {Code.FITS, Code.REQUIRED}:
        return ""
    return reason(after, label, titles)


def _setting(one: Setting) -> SettingRow:
    return SettingRow(one.of or _(SETTINGS[one.name]), one.before, one.after)


def _troubles(beside: Beside) -> list[str]:
    """What the reader must know of the comparison itself."""
    told = []
    if beside.missing:
        names = ", ".join(label_of(name) for name in sorted(beside.missing))
        told.append(_("%(sources)s could not be read on one side, so nothing of it is there.") % {"sources": names})
    if beside.after.extracted:
        told.append(_("Where a model would be asked for a summary, a shorter extract stands in for it here."))
    return told
