"""What trying a draft found, in the words and shapes of its page. Pure: everything comes in as values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.comparison.diff_sentences import summary
from assembly.contexts.items import Tag
from assembly.engine.codes import Code, WarningCode
from assembly.engine.diff import Change, Comparison, SectionChange
from assembly.engine.reasons import warning_sentence
from assembly.records.item_titles import reason, title_of
from assembly.records.warnings import label_of
from assembly.simulation.draft_preview.service import Trial

WIDTH = 1000  # of a bar, in the units of its SVG


@dataclass(frozen=True, slots=True)
class SightRow:
    """A section in the table. The bars are as wide as the largest section is long."""

    label: str
    layer: str
    before: int
    after: int
    was_wide: int
    is_wide: int
    tag: Tag
    kept: str
    """How much of a text that is cut is in; empty for others."""
    is_same: bool


@dataclass(frozen=True, slots=True)
class SightItem:
    """An item that is cut, pushed out, or comes in."""

    title: str
    section: str
    layer: str
    tokens: int
    why: str


@dataclass(frozen=True, slots=True)
class SightList:
    """Items with the same fate."""

    heading: str
    items: tuple[SightItem, ...]


def headline(trial: Trial) -> str:
    """What the draft changes, in a sentence or a few."""
    return summary(trial.comparison, overflows=WarningCode.BUDGET_EXCEEDED in trial.new_warnings)


def tone(trial: Trial) -> str:
    """How good that is: plain, good or warn."""
    found = trial.comparison
    if found.is_same:
        return "plain"
    return "warn" if found.pushed_out or found.newly_cut or trial.new_warnings else "good"


class Compared(Protocol):
    """What has two contexts that were compared."""

    @property
    def comparison(self) -> Comparison: ...


def sight_rows(trial: Compared) -> list[SightRow]:
    """The sections in order, without those that are empty before and after."""
    sections = [one for one in trial.comparison.sections if one.tokens_before or one.tokens_after or not one.is_same]
    widest = max((max(one.tokens_before, one.tokens_after) for one in sections), default=0) or 1
    return [
        SightRow(
            label=one.section.label,
            layer=one.section.layer.lower(),
            before=one.tokens_before,
            after=one.tokens_after,
            was_wide=round(one.tokens_before * WIDTH / widest),
            is_wide=round(one.tokens_after * WIDTH / widest),
            tag=_tag(one),
            kept=_kept(one),
            is_same=one.is_same,
        )
        for one in sections
    ]


def sight_lists(trial: Trial) -> list[SightList]:
    """What is newly cut, what is pushed out and what comes in; only those of which there is something."""
    found = trial.comparison
    titles = {ref: title_of(candidate) for ref, candidate in trial.candidates.items()}
    fates: dict[str, Iterable[Change]] = {
        _("Newly cut"): found.newly_cut,
        _("Pushed out"): found.pushed_out,
        _("Newly in"): found.newly_in,
    }
    lists = [
        SightList(heading, tuple(_item(change, trial, titles) for change in changes))
        for heading, changes in fates.items()
    ]
    return [one for one in lists if one.items]


def troubles(trial: Trial) -> list[str]:
    """What the reader must know of the trial itself."""
    late = [label_of(report.name) for report in trial.reports if report.code]
    told = []
    if late:
        told.append(
            _("%(sources)s could not be read just now and is missing on both sides. Try again.")
            % {"sources": ", ".join(late)}
        )
    told += [warning_sentence(code) for code in trial.new_warnings if code is not WarningCode.BUDGET_EXCEEDED]
    if trial.extracted:
        told.append(_("Where a model would be asked for a summary, a shorter extract stands in for it here."))
    return told


def _tag(section: SectionChange) -> Tag:
    after = section.after
    if section.is_same:
        status = after.status if after else "empty"
        return Tag({"cut": _("cut, as before"), "left_out": _("left out, as before")}.get(status, _("same")), "plain")
    if after is None or after.status == "left_out":
        return Tag(_("left out"), "bad")
    if after.status == "empty":
        return Tag(_("empty"), "plain")
    if after.status == "cut":
        return Tag(_("cut"), "warn")
    return _tag_of_items(section)


def _tag_of_items(section: SectionChange) -> Tag:
    out, came = (sum(change.effect == effect for change in section.changes) for effect in ("out", "in"))
    if out:
        return Tag(ngettext("%(count)s left out", "%(count)s left out", out) % {"count": f"{out:,}"}, "bad")
    if any(change.is_cut for change in section.changes):
        return Tag(_("told shorter"), "warn")
    if came and section.section.considered > 1:
        return Tag(ngettext("%(count)s more", "%(count)s more", came) % {"count": f"{came:,}"}, "good")
    return Tag(_("whole"), "good") if section.section.status == "whole" else Tag(_("some left out, as before"), "plain")


def _kept(section: SectionChange) -> str:
    cut = next((change.decision for change in section.changes if change.decision.code is Code.TRUNCATED), None)
    whole = cut.detail.get("kept_paragraphs") if cut else None
    if not cut or not whole:
        return ""
    return _("%(kept)s of %(all)s paragraphs") % {"kept": f"{whole:,}", "all": f"{cut.detail['of_paragraphs']:,}"}


def _item(change: Change, trial: Trial, titles: Mapping[str, str]) -> SightItem:
    decision = change.decision
    section = next(one.section for one in trial.comparison.sections if one.section.key == decision.section)
    return SightItem(
        title=titles[decision.ref],
        section=section.label,
        layer=section.layer.lower(),
        tokens=decision.tokens if decision.included else decision.tokens_full,
        why=_why(change, section.label, titles),
    )


def _why(change: Change, label: str, titles: Mapping[str, str]) -> str:
    if change.after is None:
        return _("It would not be considered any more.")
    return reason(change.after, label, titles)
