"""A context of an earlier moment is formatted for its page here, with what happened to its items since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.models import Agent
from assembly.comparison.changed_items import ChangedItem, changed_items, effect_tag, titles_by_ref
from assembly.comparison.side_by_side import ComparedContext
from assembly.contexts.items import OutcomeTag, is_left_out, tag_of_code
from assembly.contexts.links import ItemLinks
from assembly.engine.codes import Code, WarningCode
from assembly.engine.diff import DecisionChange, diff_contexts
from assembly.engine.refs import Ref
from assembly.engine.types import Decision, SectionResult
from assembly.records.item_titles import reason_sentence, title_of
from assembly.records.section_names import section_name
from assembly.simulation.time_travel.services import PastContext


@dataclass(frozen=True, slots=True)
class PastItem:
    """An item as it was then. `version` is its number, "" if it has none; `address` is the page of that version."""

    decision: Decision
    title: str
    tag: OutcomeTag
    why: str
    version: str
    address: str


@dataclass(frozen=True, slots=True)
class PastSection:
    """A section with its included items in order, and its excluded ones."""

    result: SectionResult
    layer: str
    included: tuple[PastItem, ...]
    left_out: tuple[PastItem, ...]


def headline(found: PastContext, agent: Agent) -> str:
    """Return how much would have been included and excluded, in one or two sentences."""
    made = found.context
    facts = {
        "agent": agent.name,
        "when": _("On %(day)s at %(time)s")
        % {"day": date_format(found.moment, "l, j F Y"), "time": f"{found.moment:%H:%M}"},
        "tokens": f"{made.tokens:,}",
        "budget": f"{made.budget:,}",
    }
    told = _("%(when)s, the context of %(agent)s would have used %(tokens)s of %(budget)s tokens.")
    if WarningCode.BUDGET_EXCEEDED in made.warnings:
        told = _(
            "%(when)s, the context of %(agent)s would have used %(tokens)s tokens, more than the budget of %(budget)s."
        )
    return f"{told % facts} {_losses(made.decisions)}"


def _losses(decisions: Sequence[Decision]) -> str:
    cut = sum(decision.code is Code.TRUNCATED for decision in decisions)
    out = sum(is_left_out(decision) for decision in decisions)
    said = []
    if cut:
        said.append(
            ngettext("%(count)s text would have been truncated.", "%(count)s texts would have been truncated.", cut)
        )
    if out:
        said.append(
            ngettext("%(count)s item would have been excluded.", "%(count)s items would have been excluded.", out)
        )
    counts = [count for count in (cut, out) if count]
    return " ".join(one % {"count": f"{count:,}"} for one, count in zip(said, counts, strict=True)) or _(
        "Nothing would have been excluded."
    )


def past_sections(told: ComparedContext, agent: str, team: str) -> list[PastSection]:
    """Return the sections with items, in order. The slugs are for links to today's pages."""
    items = _items(told, ItemLinks(agent, team))
    return [
        PastSection(
            result=section,
            layer=section.layer.lower(),
            included=tuple(item for item in sorted(items, key=_item_order) if _is_in(item, section)),
            left_out=tuple(item for item in items if _is_out(item, section)),
        )
        for section in told.sections
        if section.considered and section.status != "empty"
    ]


def _items(told: ComparedContext, whereabouts: ItemLinks) -> list[PastItem]:
    labels = {section.key: section for section in told.sections}
    titles = {candidate.ref: title_of(candidate) for candidate in told.inputs.candidates}
    offered = {(candidate.section, candidate.ref): candidate for candidate in told.inputs.candidates}
    return [
        PastItem(
            decision=decision,
            title=titles[decision.ref],
            tag=tag_of_code(decision.code),
            why=reason_sentence(decision, section_name(labels[decision.section]), titles),
            version=Ref.parse(decision.ref).version,
            address=whereabouts.address_of(offered[decision.section, decision.ref]),
        )
        for decision in told.decisions
    ]


def _item_order(item: PastItem) -> int:
    return item.decision.start or 0


def _is_in(item: PastItem, section: SectionResult) -> bool:
    return item.decision.section == section.key and item.decision.included


def _is_out(item: PastItem, section: SectionResult) -> bool:
    return item.decision.section == section.key and is_left_out(item.decision)


def changes_since(then: ComparedContext, now: ComparedContext) -> tuple[ChangedItem, ...]:
    """Return new, removed and changed items; a change of only the score or the rank is none."""
    comparison = diff_contexts(then, now)
    changes = [change for change in comparison.changes if _has_different_text(change)]
    titles = titles_by_ref((*then.inputs.candidates, *now.inputs.candidates))
    return changed_items(comparison, changes, titles, tag=partial(effect_tag, wording="past"), why=_why)


def _has_different_text(change: DecisionChange) -> bool:
    before, after = change.before, change.after
    if change.effect != "changed" or not (before and after):
        return True
    return after.included and _text_state(before) != _text_state(after)


def _text_state(decision: Decision) -> tuple[object, ...]:
    """Return the version, whether and how the item is included, and how many of its characters."""
    return decision.ref, decision.code, (decision.end or 0) - (decision.start or 0)


def _why(change: DecisionChange, _label: str, _titles: Mapping[str, str]) -> str:
    before, after = change.before, change.after
    if before is None:
        return _("It was not a candidate then.")
    if after is None:
        return _("It is no longer a candidate.")
    if change.effect == "in":
        return _("It was excluded then.")
    if change.effect == "out":
        return _("It is excluded now.")
    if (then := Ref.parse(before.ref).version) != (now := Ref.parse(after.ref).version):
        return _("Version %(then)s then, version %(now)s now.") % {"then": then, "now": now}
    return _("The same version, but a different part of it is included.")
