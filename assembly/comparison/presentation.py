"""Two contexts side by side are formatted for their page here, with links to both versions of changed items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.models import Agent
from assembly.comparison.causes import CAUSE_KINDS, Cause, cause_sentence
from assembly.comparison.changed_items import CauseRow, ChangedItem, changed_items, effect_tag, titles_by_ref
from assembly.comparison.diff_sentences import count_sentence, is_rank_change_only, side_warnings
from assembly.comparison.explain import ExplainedChanges, ExplainedComparison, edits_of
from assembly.comparison.side_by_side import ParameterDiff, ParameterName, SideBySide
from assembly.contexts.items import OutcomeTag
from assembly.engine.codes import Code
from assembly.engine.diff import ContextDiff, DecisionChange, SectionChange
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate
from assembly.records.item_titles import reason_sentence, title_of
from assembly.records.section_names import section_name
from assembly.records.warnings import recorded_source_label
from assembly.sources.kinds import ORGANISATION_FILE
from teams.models import OrganisationFile, Team
from teams.text_diff.comparison import compare_texts

WIDTH = 1000  # of a bar, in the units of its SVG


UNNAMED = frozenset(kind for kind in CAUSE_KINDS if kind.startswith(("memory", "item")))
"""The kinds of causes whose sentence does not name the item."""
SHOWN, SHOWN_EDITS = 8, 6
"""The numbers of changes and of edits that are shown at once; the others are folded."""
SETTINGS: Mapping[ParameterName, str] = {
    "topic": "Topic",
    "budget": "Budget in tokens",
    "tokenizer": "Counted by",
    "profile": "Profile",
    "section": "Section",
    "rules": "Rules that applied",
    "day": "Day",
    "excluded_by_request": "Excluded by the request",
}


@dataclass(frozen=True, slots=True)
class ParameterDiffRow:
    """A parameter that differs. "" means no value."""

    label: str
    before: str
    after: str


Addresses = Mapping[Cause, str]
NO_ADDRESSES: Addresses = {}


def comparison_page(
    beside: SideBySide, causes: Sequence[tuple[Cause, ...]] = (), addresses: Addresses = NO_ADDRESSES
) -> dict[str, Any]:
    """Return the context of templates/assembly/comparison/_side_by_side.html.

    `causes` are those of each change, in the same order, if they are known.
    """
    rows = change_rows(beside, causes, addresses)
    return {
        "beside": beside,
        "headline": count_sentence(beside),
        "tone": "plain" if beside.is_same else "warn" if beside.comparison.pushed_out else "good",
        "settings": [_parameter_diff_row(one) for one in beside.settings],
        "rows": section_diff_rows(beside),
        "changes": rows[:SHOWN],
        "more_changes": rows[SHOWN:],
        "new_warnings": [
            message for code, message in side_warnings(beside.after) if code not in beside.before.warnings
        ],
        "troubles": _comparison_warnings(beside),
        "difference": compare_texts(beside.before.content, beside.after.content, source=True),
    }


def explained_page(found: ExplainedComparison, agent: Agent | None, team: Team | None) -> dict[str, Any]:
    """Return the context with the causes of each change, linked to pages of the agent and the team, and the edits."""
    causes = [mine for _change, mine in found.changes]
    addresses = cause_addresses({one for mine in causes for one in mine}, agent, team)
    since = edit_rows(found.beside, found.changes, addresses)
    return {
        "since": since[:SHOWN_EDITS],
        "more_since": since[SHOWN_EDITS:],
        **comparison_page(found.beside, causes, addresses),
    }


def change_rows(beside: SideBySide, causes: Sequence[tuple[Cause, ...]], addresses: Addresses) -> list[ChangedItem]:
    """Return a row for each item that is added, removed, moved or changed."""
    changes = beside.comparison.changes
    titles = titles_by_ref((*beside.before.inputs.candidates, *beside.after.inputs.candidates))
    rows = changed_items(beside.comparison, changes, titles, tag=_tag, why=_change_reason)
    known = causes or [()] * len(changes)
    return [replace(row, causes=cause_rows(mine, addresses)) for row, mine in zip(rows, known, strict=True)]


def cause_rows(causes: Sequence[Cause], addresses: Addresses) -> tuple[CauseRow, ...]:
    """Return the causes in words."""
    return tuple(CauseRow(cause_sentence(cause), addresses.get(cause, "")) for cause in causes)


def edit_rows(beside: SideBySide, changes: Sequence[ExplainedChanges], addresses: Addresses) -> list[CauseRow]:
    """Return the edits, each once, with the title of the item."""
    candidates: dict[tuple[str, str], Candidate] = {**beside.before.candidates, **beside.after.candidates}
    titles: dict[Cause, str] = {}
    for change, causes in changes:
        decision = change.decision
        for cause in causes:
            titles.setdefault(cause, title_of(candidates[decision.section, decision.ref]))
    return [
        CauseRow(cause_sentence(cause), addresses.get(cause, ""), titles[cause] if cause.kind in UNNAMED else "")
        for cause in edits_of(changes)
    ]


def _tag(change: DecisionChange) -> OutcomeTag:
    if change.is_cut:
        return OutcomeTag(_("truncated"), "warn")
    if change.is_restored:
        return OutcomeTag(_("no longer truncated"), "good")
    if is_rank_change_only(change):
        return OutcomeTag(_("re-ranked"), "plain")
    return effect_tag(change, "texts")


def _change_reason(change: DecisionChange, label: str, titles: Mapping[str, str]) -> str:
    after = change.after
    if after is None:
        return _("It is not a candidate.")
    if after.code in {Code.FITS, Code.REQUIRED}:
        return ""
    return reason_sentence(after, label, titles)


def _parameter_diff_row(one: ParameterDiff) -> ParameterDiffRow:
    return ParameterDiffRow(one.of or _(SETTINGS[one.name]), one.before, one.after)


def _comparison_warnings(beside: SideBySide) -> list[str]:
    """Return notes about the comparison itself."""
    told = []
    if beside.missing:
        names = ", ".join(recorded_source_label(name) for name in sorted(beside.missing))
        told.append(
            _("%(sources)s could not be read for one of the contexts, so its items are missing there.")
            % {"sources": names}
        )
    if beside.after.extracted:
        told.append(_("Extracts are used here instead of summaries by a model."))
    return told


VERSIONED = frozenset({"file_changed", "log_written"})


def cause_addresses(causes: Iterable[Cause], agent: Agent | None, team: Team | None) -> dict[Cause, str]:
    """Return the addresses of causes that have a page. Files and logs of a deleted agent or team have none."""
    distinct = dict.fromkeys(causes)
    refs = [Ref.parse(cause.ref) for cause in distinct]
    ids = {ref.id for ref in refs if ref.kind == ORGANISATION_FILE}
    files = OrganisationFile.objects.filter(id__in=ids).values_list("id", "file_key") if ids else ()
    keys = {str(id_): key for id_, key in files}
    found = {cause: _address(cause, agent, team, keys) for cause in distinct}
    return {cause: address for cause, address in found.items() if address}


def _address(cause: Cause, agent: Agent | None, team: Team | None, organisation_keys: Mapping[str, str]) -> str:
    ref = Ref.parse(cause.ref)
    between = f"?from={cause.before}&to={cause.after}" if cause.before and cause.after else ""
    if cause.kind in VERSIONED and between:
        history = _history_address(ref, cause.name, agent, team, organisation_keys)
        return f"{history}{between}" if history else ""
    if ref.kind == "memory" and cause.at:
        return reverse("memory_versions", args=[ref.id])
    if ref.kind == "rule" and cause.kind != "rule_deleted":
        changed = cause.kind == "rule_changed" and between
        return reverse("rule_compare", args=[cause.name]) + between if changed else reverse("rule_page", args=[ref.id])
    if ref.kind == "profile" and cause.at and between:
        return reverse("profile_compare", args=[cause.name]) + between
    return ""


def _history_address(
    ref: Ref, name: str, agent: Agent | None, team: Team | None, organisation_keys: Mapping[str, str]
) -> str:
    """Return the page that compares versions of a file or log; "" if it or its owner is deleted.

    `organisation_keys` are the keys of the organisation's files by id.
    """
    kind = ref.kind
    if kind == ORGANISATION_FILE:
        key = organisation_keys.get(ref.id)
        return reverse("organisation_file_compare", args=[key]) if key else ""
    if kind == "team_file":
        return reverse("team_file_compare", args=[team.slug, name]) if team else ""
    if agent is None:
        return ""
    if kind == "agent_file":
        return reverse("agent_file_compare", args=[agent.slug, name])
    return f"/agents/{agent.slug}/logs/{name}/history/compare/"


@dataclass(frozen=True, slots=True)
class SectionDiffRow:
    """A section in the table. The bars are relative to the largest section."""

    label: str
    layer: str
    before: int
    after: int
    width_before: int
    width_after: int
    tag: OutcomeTag
    kept: str
    """How much of a truncated text is included; empty for others."""
    is_same: bool


class HasComparison(Protocol):
    """An object with a comparison of two contexts."""

    @property
    def comparison(self) -> ContextDiff: ...


def section_diff_rows(trial: HasComparison) -> list[SectionDiffRow]:
    """Return the sections in order, without those that are empty in both contexts."""
    sections = [one for one in trial.comparison.sections if one.tokens_before or one.tokens_after or not one.is_same]
    widest = max((max(one.tokens_before, one.tokens_after) for one in sections), default=0) or 1
    return [
        SectionDiffRow(
            label=section_name(one.section),
            layer=one.section.layer.lower(),
            before=one.tokens_before,
            after=one.tokens_after,
            width_before=round(one.tokens_before * WIDTH / widest),
            width_after=round(one.tokens_after * WIDTH / widest),
            tag=_section_tag(one),
            kept=_kept_phrase(one),
            is_same=one.is_same,
        )
        for one in sections
    ]


def _section_tag(section: SectionChange) -> OutcomeTag:
    after = section.after
    if section.is_same:
        status = after.status if after else "empty"
        return OutcomeTag(
            {"cut": _("truncated in both"), "left_out": _("excluded in both")}.get(status, _("unchanged")), "plain"
        )
    if after is None or after.status == "left_out":
        return OutcomeTag(_("excluded"), "bad")
    if after.status == "empty":
        return OutcomeTag(_("empty"), "plain")
    if after.status == "cut":
        return OutcomeTag(_("truncated"), "warn")
    return _tag_of_items(section)


def _tag_of_items(section: SectionChange) -> OutcomeTag:
    out, came = (sum(change.effect == effect for change in section.changes) for effect in ("out", "in"))
    if out:
        return OutcomeTag(ngettext("%(count)s excluded", "%(count)s excluded", out) % {"count": f"{out:,}"}, "bad")
    if any(change.is_cut for change in section.changes):
        return OutcomeTag(_("shortened"), "warn")
    if came and section.section.considered > 1:
        return OutcomeTag(ngettext("%(count)s more", "%(count)s more", came) % {"count": f"{came:,}"}, "good")
    return (
        OutcomeTag(_("full"), "good")
        if section.section.status == "whole"
        else OutcomeTag(_("some excluded in both"), "plain")
    )


def _kept_phrase(section: SectionChange) -> str:
    cut = next((change.decision for change in section.changes if change.decision.code is Code.TRUNCATED), None)
    whole = cut.detail.get("kept_paragraphs") if cut else None
    if not cut or not whole:
        return ""
    return _("%(kept)s of %(all)s paragraphs") % {"kept": f"{whole:,}", "all": f"{cut.detail['of_paragraphs']:,}"}
