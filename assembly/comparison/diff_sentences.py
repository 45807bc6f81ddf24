"""Differences of two contexts are described in sentences here, losses first."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.comparison.side_by_side import ComparedContext, SideBySide
from assembly.engine.codes import Code, SourceCode, WarningCode
from assembly.engine.diff import ContextDiff, DecisionChange, SectionChange
from assembly.engine.reasons import source_sentence, warning_sentence
from assembly.engine.refs import Ref
from assembly.records.section_names import section_name
from assembly.records.warnings import recorded_source_label

MOST_SENTENCES = 4
"""The maximum number of sentences of a summary."""


def comparison_summary(comparison: ContextDiff, *, overflows: bool = False) -> str:
    """Return what the change costs and brings. `overflows`: the required items alone would exceed the budget."""
    if comparison.is_same:
        return _("The context is unchanged.")
    lost = [sentence for section in comparison.sections for sentence in _loss_sentences(section)]
    if overflows:
        lost.insert(0, _("The required sections would exceed the budget, so nothing else would be included."))
    won = [sentence for section in comparison.sections for sentence in _gain_sentences(section)]
    told = [*lost, *won] if lost else [_("No content is displaced."), *won]
    return " ".join(told[:MOST_SENTENCES])


def _missing_part(change: DecisionChange) -> str:
    """Return how much of a truncated text is missing."""
    detail = change.decision.detail
    kept, paragraphs = detail.get("kept_paragraphs"), detail.get("of_paragraphs")
    if kept and paragraphs:
        return ngettext(
            "the last paragraph of %(all)s", "the last %(missing)s of %(all)s paragraphs", paragraphs - kept
        ) % {"missing": f"{paragraphs - kept:,}", "all": f"{paragraphs:,}"}
    kept, characters = detail.get("kept_chars"), detail.get("of_chars")
    if kept is None or characters is None:
        return _("a part of it")
    return _("the last %(missing)s of %(all)s characters") % {
        "missing": f"{characters - kept:,}",
        "all": f"{characters:,}",
    }


def _loss_sentences(section: SectionChange) -> Iterator[str]:
    label = {"section": section_name(section.section)}
    for change in section.changes:
        if change.is_cut and change.decision.code is Code.TRUNCATED:
            yield _cut(change, section) % {**label, "part": _missing_part(change)}
    shorter = sum(change.is_cut and change.decision.code is not Code.TRUNCATED for change in section.changes)
    if shorter:
        yield ngettext(
            "%(count)s item of %(section)s would be shortened.",
            "%(count)s items of %(section)s would be shortened.",
            shorter,
        ) % {**label, "count": shorter}
    out = [change for change in section.changes if change.effect == "out"]
    if out and all(change.after and change.after.code is Code.EMPTY for change in out):
        yield _("%(section)s would be empty.") % label
    elif out and section.section.included == 0:
        yield _("%(section)s would be excluded.") % label
    elif out:
        yield _no_longer_in(out, section_name(section.section))


def _cut(change: DecisionChange, section: SectionChange) -> str:
    more = change.before is not None and change.before.code is Code.TRUNCATED
    if section.section.considered > 1:
        return _("In %(section)s, 1 item would be truncated: %(part)s would be missing.")
    if more:
        return _("More of %(section)s would be truncated: %(part)s would be missing.")
    return _("%(section)s would be truncated: %(part)s would be missing.")


def _no_longer_in(out: Sequence[DecisionChange], label: str) -> str:
    kinds = {Ref.parse(change.decision.ref).kind for change in out}
    count = len(out)
    if kinds == {"memory"}:
        worded = ngettext(
            "%(count)s memory would no longer fit in %(section)s.",
            "%(count)s memories would no longer fit in %(section)s.",
            count,
        )
    elif kinds == {"daily_log"}:
        worded = ngettext(
            "%(count)s day would no longer fit in %(section)s.",
            "%(count)s days would no longer fit in %(section)s.",
            count,
        )
    else:
        worded = ngettext(
            "%(count)s item would no longer fit in %(section)s.",
            "%(count)s items would no longer fit in %(section)s.",
            count,
        )
    return worded % {"count": f"{count:,}", "section": label}


def _gain_sentences(section: SectionChange) -> Iterator[str]:
    came = sum(change.effect == "in" for change in section.changes)
    if came and section.section.considered > 1:
        yield ngettext(
            "%(count)s more item would be included in %(section)s.",
            "%(count)s more items would be included in %(section)s.",
            came,
        ) % {"count": f"{came:,}", "section": section_name(section.section)}
    elif came:
        yield _("%(section)s would be included.") % {"section": section_name(section.section)}
    if any(change.is_restored for change in section.changes):
        yield _("%(section)s would no longer be truncated.") % {"section": section_name(section.section)}


def count_sentence(beside: SideBySide) -> str:
    """Return how much differs, in one or two sentences."""
    comparison = beside.comparison
    if beside.is_same and comparison.is_same:
        return _("Both texts are identical.")
    if beside.is_same:
        return _("Both texts are identical. Excluded items or ranks differ.")
    more = [*_change_count(beside)]
    tokens = comparison.tokens_after - comparison.tokens_before
    size = _("+%(n)s tokens") if tokens > 0 else _("-%(n)s tokens") if tokens else _("same number of tokens")
    told = _("%(size)s (%(before)s → %(after)s)") % {
        "after": f"{comparison.tokens_after:,}",
        "before": f"{comparison.tokens_before:,}",
        "size": size % {"n": f"{abs(tokens):,}"} if tokens else size,
    }
    return f"{_sentence(more)} {told}" if more else told


def side_warnings(side: ComparedContext) -> list[tuple[str, str]]:
    """Return the codes of a context's warnings, each with its sentence."""
    return [(code, _warning(code, side)) for code in side.warnings]


def _warning(code: str, side: ComparedContext) -> str:
    if code in set(SourceCode):
        names = ", ".join(recorded_source_label(name) for name in sorted(side.missing))
        return f"{names}: {source_sentence(SourceCode(code))}"
    return warning_sentence(WarningCode(code))


def _change_count(beside: SideBySide) -> list[str]:
    comparison = beside.comparison
    came, went, cut = len(comparison.newly_in), len(comparison.pushed_out), len(comparison.newly_cut)
    ranked = sum(is_rank_change_only(one) for one in comparison.changes)
    others = len(comparison.changes) - came - went - cut - ranked
    told = []
    if came:
        told.append(ngettext("%(n)s item added", "%(n)s items added", came) % {"n": f"{came:,}"})
    if went:
        told.append(ngettext("%(n)s removed", "%(n)s removed", went) % {"n": f"{went:,}"})
    if cut:
        told.append(ngettext("%(n)s truncated", "%(n)s truncated", cut) % {"n": f"{cut:,}"})
    if others:
        told.append(ngettext("%(n)s changed", "%(n)s changed", others) % {"n": f"{others:,}"})
    if ranked:
        told.append(ngettext("%(n)s re-ranked", "%(n)s re-ranked", ranked) % {"n": f"{ranked:,}"})
    return told


def is_rank_change_only(change: DecisionChange) -> bool:
    """Return whether only the rank or the score of the item differs."""
    before, after = change.before, change.after
    same = before is not None and after is not None and (before.ref, before.code) == (after.ref, after.code)
    return change.effect == "changed" and same and not change.is_cut


def _sentence(parts: list[str]) -> str:
    return f"{', '.join(parts)}."
