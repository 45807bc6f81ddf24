"""A context of another moment in the words and shapes of its page. Pure: everything comes in as values."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.models import Agent
from assembly.as_of.service import AsOf
from assembly.as_of.told import Told
from assembly.engine.codes import Code, WarningCode
from assembly.engine.types import Decision, SectionResult
from assembly.views.addresses import Whereabouts
from assembly.views.explanation import Tag, is_left_out, tag_of_code
from assembly.views.titles import reason, title_of


@dataclass(frozen=True, slots=True)
class ToldItem:
    """An item as it was then. `version`: its number, "" for what has none; `address`: where that can be read."""

    decision: Decision
    title: str
    tag: Tag
    why: str
    version: str
    address: str


@dataclass(frozen=True, slots=True)
class ToldSection:
    """A section with what is in, in its order, and what is left out."""

    result: SectionResult
    layer: str
    included: tuple[ToldItem, ...]
    left_out: tuple[ToldItem, ...]


def headline(found: AsOf, agent: Agent) -> str:
    """How much would have been told when, and what of it not, in a sentence or two."""
    made = found.told.assembled
    facts = {
        "agent": agent.name,
        "when": _("On %(day)s at %(time)s")
        % {"day": date_format(found.moment, "l, j F Y"), "time": f"{found.moment:%H:%M}"},
        "tokens": f"{made.tokens:,}",
        "budget": f"{made.budget:,}",
    }
    told = _("%(when)s, %(agent)s would have been told %(tokens)s of a possible %(budget)s tokens.")
    if WarningCode.BUDGET_EXCEEDED in made.warnings:
        told = _("%(when)s, %(agent)s would have been told %(tokens)s tokens, more than the %(budget)s allowed.")
    return f"{told % facts} {_losses(made.decisions)}"


def _losses(decisions: Sequence[Decision]) -> str:
    cut = sum(decision.code is Code.TRUNCATED for decision in decisions)
    out = sum(is_left_out(decision) for decision in decisions)
    said = []
    if cut:
        said.append(ngettext("%(count)s text would have been cut.", "%(count)s texts would have been cut.", cut))
    if out:
        said.append(
            ngettext("%(count)s item would have been left out.", "%(count)s items would have been left out.", out)
        )
    counts = [count for count in (cut, out) if count]
    return " ".join(one % {"count": f"{count:,}"} for one, count in zip(said, counts, strict=True)) or _(
        "Nothing would have been left out."
    )


def told_sections(told: Told, agent: str, team: str) -> list[ToldSection]:
    """The sections in which there was something to tell, in order. The slugs say where items are found today."""
    items = _items(told, Whereabouts(agent, team))
    return [
        ToldSection(
            result=section,
            layer=section.layer.lower(),
            included=tuple(item for item in sorted(items, key=_place) if _is_in(item, section)),
            left_out=tuple(item for item in items if _is_out(item, section)),
        )
        for section in told.assembled.sections
        if section.considered and section.status != "empty"
    ]


def version_of(ref: str) -> str:
    """The number of the version that a ref names; "" for what has none."""
    return ref.rpartition("@")[2].partition("#")[0] if "@" in ref else ""


def _items(told: Told, whereabouts: Whereabouts) -> list[ToldItem]:
    labels = {section.key: section for section in told.assembled.sections}
    titles = {candidate.ref: title_of(candidate) for candidate in told.candidates}
    offered = {(candidate.section, candidate.ref): candidate for candidate in told.candidates}
    return [
        ToldItem(
            decision=decision,
            title=titles[decision.ref],
            tag=tag_of_code(decision.code),
            why=reason(decision, labels[decision.section].label, titles),
            version=version_of(decision.ref),
            address=whereabouts.address_of(offered[decision.section, decision.ref]),
        )
        for decision in told.assembled.decisions
    ]


def _place(item: ToldItem) -> int:
    return item.decision.start or 0


def _is_in(item: ToldItem, section: SectionResult) -> bool:
    return item.decision.section == section.key and item.decision.included


def _is_out(item: ToldItem, section: SectionResult) -> bool:
    return item.decision.section == section.key and is_left_out(item.decision)
