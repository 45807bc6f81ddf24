"""The answer and its remedies are sentences: “with 312 more tokens”, “if it were pinned”."""

from collections.abc import Callable, Mapping, Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from assembly.engine.codes import Code
from assembly.engine.diff import ItemKey
from assembly.engine.profile import Section
from assembly.engine.reasons import score_text
from assembly.engine.types import Decision
from assembly.records.reader import EngineInput
from assembly.records.section_names import section_name
from assembly.why_not.changes import ChangeKind, RemedyChange
from assembly.why_not.fix_search import Remedy

Titles = Mapping[str, str]
"""Titles of items, by ref."""


def condition_sentence(change: RemedyChange, inputs: EngineInput, titles: Titles) -> str:
    """Return the condition under which the item would be included, as part of a sentence."""
    return _CONDITIONS[change.kind](change, inputs, titles)


def _section(change: RemedyChange, inputs: EngineInput) -> Section:
    return next(one for one in inputs.profile.sections if one.key == change.section)


def _budget(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    more = int(change.value) - inputs.request.budget
    return ngettext(
        "with %(more)s more token (a budget of %(value)s)", "with %(more)s more tokens (a budget of %(value)s)", more
    ) % {"more": f"{more:,}", "value": f"{int(change.value):,}"}


def _cap(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    section = _section(change, inputs)
    more = int(change.value) - (section.cap_within(inputs.request.budget) or 0)
    return ngettext(
        "with %(more)s more token for %(section)s (a cap of %(value)s)",
        "with %(more)s more tokens for %(section)s (a cap of %(value)s)",
        more,
    ) % {"more": f"{more:,}", "section": section_name(section), "value": f"{int(change.value):,}"}


def _top_k(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    section = _section(change, inputs)
    return _("if %(section)s had a limit of %(value)s items instead of %(now)s") % {
        "section": section_name(section),
        "value": f"{int(change.value):,}",
        "now": f"{section.top_k:,}",
    }


def _threshold(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    return _("with a minimum similarity of %(value)s instead of %(now)s") % {
        "value": fine_score(change.value),
        "now": score_text(inputs.profile.similarity_threshold),
    }


def _reach(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    now = inputs.profile.ranker.reach if inputs.profile.ranker else 0.0
    return _("if the maximum score difference from the best were %(value)s instead of %(now)s") % {
        "value": fine_score(change.value),
        "now": score_text(now),
    }


def _score(change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("with a score higher by %(value)s") % {"value": fine_score(change.value)}


def _source_score(change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("with a source score higher by %(value)s") % {"value": fine_score(change.value)}


def _boost(change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if a rule boosted %(by)s by %(value)s") % {
        "by": _selector_phrase(change.name),
        "value": f"{change.value:g}",
    }


def _pin(_change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if it were pinned")


def _always_include(change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if a rule always included %(by)s") % {"by": _selector_phrase(change.name)}


def _without_rule(change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    names = [label.partition("@")[0] for label in change.name.split(", ")]
    return ngettext(
        "if the rule %(names)s did not exclude it", "if the rules %(names)s did not exclude it", len(names)
    ) % {"names": ", ".join(f"“{name}”" for name in names)}


def _without_exclusion(_change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if the request did not exclude it")


def _not_superseded(_change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if it were not superseded")


def _not_retired(_change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if it were not archived")


def _without_other(change: RemedyChange, _inputs: EngineInput, titles: Titles) -> str:
    return _("if %(other)s did not have the same text") % {"other": titles.get(change.name, change.name)}


def _conflict_decided(change: RemedyChange, _inputs: EngineInput, titles: Titles) -> str:
    return _("if a person decided that it holds against %(other)s") % {"other": titles.get(change.name, change.name)}


def _shorter(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    text = next(one.text for one in inputs.candidates if (one.section, one.ref) == (change.section, change.ref))
    less = len(text.rstrip()) - int(change.value)
    return ngettext(
        "if its text were %(less)s character shorter", "if its text were %(less)s characters shorter", less
    ) % {"less": f"{less:,}"}


def _text(_change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if it had a text")


def _scope_limit(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    now = next((limit for scope, limit in inputs.profile.scope_limits.items() if scope == change.name), 0)
    return _("if the scope %(scope)s had a limit of %(value)s items instead of %(now)s") % {
        "scope": change.name,
        "value": f"{int(change.value):,}",
        "now": f"{now:,}",
    }


def _floor(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    section = _section(change, inputs)
    return _("if the minimum relevance of %(section)s were %(value)s instead of %(now)s") % {
        "section": section_name(section),
        "value": fine_score(change.value),
        "now": fine_score(section.relevance_floor),
    }


def _least_origin(change: RemedyChange, inputs: EngineInput, _titles: Titles) -> str:
    return _("if %(section)s took texts of its origin") % {"section": section_name(_section(change, inputs))}


def _level(_change: RemedyChange, _inputs: EngineInput, _titles: Titles) -> str:
    return _("if all items were included as whole texts")


def fine_score(value: float) -> str:
    """Return a score with four decimals, without zeros at the end."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if value else "0"


def _selector_phrase(name: str) -> str:
    by, _sep, value = name.partition(":")
    return str(_SELECTOR_PHRASES[by]) % {"value": value}


_SELECTOR_PHRASES: Mapping[str, Promise] = {
    "path": _lazy("“%(value)s”"),
    "kg_entity": _lazy("“%(value)s”"),
    "memory_kind": _lazy("memories of kind “%(value)s”"),
    "tag": _lazy("the tag “%(value)s”"),
    "source": _lazy("all of the source “%(value)s”"),
}

_CONDITIONS: Mapping[ChangeKind, Callable[[RemedyChange, EngineInput, Titles], str]] = {
    "budget": _budget,
    "cap": _cap,
    "top_k": _top_k,
    "threshold": _threshold,
    "score_distance": _reach,
    "score": _score,
    "source_score": _source_score,
    "boost": _boost,
    "pin": _pin,
    "always_include": _always_include,
    "without_rule": _without_rule,
    "without_exclusion": _without_exclusion,
    "not_superseded": _not_superseded,
    "not_archived": _not_retired,
    "without_duplicate": _without_other,
    "shorter": _shorter,
    "text": _text,
    "scope_limit": _scope_limit,
    "relevance_floor": _floor,
    "least_origin": _least_origin,
    "level": _level,
    "conflict_decided": _conflict_decided,
}


def remedy_sentence(remedy: Remedy, inputs: EngineInput, titles: Titles) -> str:
    """Return what would include the item: “It would have fitted with 312 more tokens (a budget of 16,312).”"""
    *before, last = remedy.changes
    told = [condition_sentence(change, inputs, titles) for change in before]
    conditions = _(" and ").join([*told, _measured_clause(remedy) or condition_sentence(last, inputs, titles)])
    beginning = _("It would be included in full") if remedy.whole else _opening_clause(remedy)
    least = "" if remedy.is_least else _(" Less may be sufficient: the simulation ran out of time.")
    return f"{beginning} {conditions}.{least}"


def _measured_clause(remedy: Remedy) -> str:
    """Return the last change with its value: the required score, or the number of excess tokens."""
    before, after = remedy.before, remedy.after
    if remedy.change.kind == "score" and before.score is not None and after.score is not None:
        scores = {"value": fine_score(after.score), "now": fine_score(before.score)}
        return _("with a score of %(value)s instead of %(now)s") % scores
    less = before.tokens_full - after.tokens_full
    if remedy.change.kind == "shorter" and less > 0:
        counts = {"less": f"{less:,}", "kept": f"{int(remedy.change.value):,}"}
        return (
            ngettext(
                "if its text were %(less)s token shorter (its first %(kept)s characters)",
                "if its text were %(less)s tokens shorter (its first %(kept)s characters)",
                less,
            )
            % counts
        )
    return ""


def _opening_clause(remedy: Remedy) -> str:
    code = remedy.after.code
    if code is Code.TRUNCATED:
        return _("Its beginning would be included")
    if code is Code.SUMMARISED:
        return _("A summary of it would be included")
    if code is Code.COMPACTED:
        return _("It would be included in a shorter form")
    only_room = len(remedy.changes) == 1 and remedy.change.kind in {"budget", "cap"}
    return _("It would have fitted") if only_room else _("It would be included")


def cost_sentence(remedy: Remedy, place: ItemKey, titles: Titles) -> str:
    """Return the effect on other items."""
    comparison = remedy.comparison
    mine = {place, (remedy.after.section, remedy.after.ref)}
    gone = _other_decisions([change.decision for change in comparison.pushed_out], mine)
    cut = _other_decisions([change.decision for change in comparison.newly_cut], mine)
    came = _other_decisions([change.decision for change in comparison.newly_in], mine)
    parts = [
        _items_phrase(gone, titles, _("Replaces: %(names)s."), "%(count)s other would go for it.",
              "%(count)s others would go for it."),
        _items_phrase(cut, titles, _("Shortens: %(names)s."), "%(count)s other would be shortened.",
              "%(count)s others would be shortened."),
        _items_phrase(came, titles, _("Also adds: %(names)s."), "%(count)s other would be added, too.",
              "%(count)s others would be added, too."),
    ]  # fmt: skip
    return " ".join(part for part in parts if part) or _("No side effects.")


def _other_decisions(decisions: Sequence[Decision], mine: set[ItemKey]) -> list[Decision]:
    return [one for one in decisions if (one.section, one.ref) not in mine]


def _items_phrase(others: Sequence[Decision], titles: Titles, one: str, singular: str, plural: str) -> str:
    """Return a single item by its name, several by their number."""
    if len(others) == 1 and others[0].ref in titles:
        return one % {"names": titles[others[0].ref]}
    count = len(others)
    return ngettext(singular, plural, count) % {"count": f"{count:,}"} if others else ""


def untried_sentence(kinds: Sequence[ChangeKind]) -> str:
    """Return which changes were not tried for lack of time; "" if all were."""
    if not kinds:
        return ""
    names = ", ".join(str(_KINDS[kind]) for kind in kinds)
    return _("Not simulated in time: %(names)s.") % {"names": names}


_KINDS: Mapping[ChangeKind, Promise] = {
    "budget": _lazy("another budget"),
    "cap": _lazy("another cap"),
    "top_k": _lazy("more items"),
    "threshold": _lazy("another threshold"),
    "score_distance": _lazy("a larger score difference"),
    "score": _lazy("a higher score"),
    "source_score": _lazy("a higher source score"),
    "boost": _lazy("a rule that boosts it"),
    "pin": _lazy("a pin"),
    "always_include": _lazy("a rule that includes it"),
    "without_rule": _lazy("the rules without it"),
    "without_exclusion": _lazy("a request that does not exclude it"),
    "not_superseded": _lazy("not superseded"),
    "not_archived": _lazy("not archived"),
    "without_duplicate": _lazy("the context without the other one"),
    "shorter": _lazy("a shorter text"),
    "text": _lazy("a text"),
    "scope_limit": _lazy("more items of its scope"),
    "relevance_floor": _lazy("another minimum of relevance"),
    "least_origin": _lazy("texts of its origin"),
    "level": _lazy("whole texts"),
    "conflict_decided": _lazy("a decision on the conflict"),
}
