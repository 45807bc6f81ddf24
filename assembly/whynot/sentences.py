"""The answer in plain sentences."""

from collections.abc import Mapping, Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from assembly.comparing import Place
from assembly.engine.codes import Code
from assembly.engine.types import Decision
from assembly.recorded import Inputs
from assembly.whynot.changes import Kind
from assembly.whynot.conditions import Titles, condition, fine
from assembly.whynot.remedies import Remedy


def would_be_in(remedy: Remedy, inputs: Inputs, titles: Titles) -> str:
    """What brings it in: “It would have fitted with 312 more tokens (a budget of 16,312).”"""
    *before, last = remedy.changes
    told = [condition(change, inputs, titles) for change in before]
    conditions = _(" and ").join([*told, _measured(remedy) or condition(last, inputs, titles)])
    beginning = _("All of it would be in") if remedy.whole else _beginning(remedy)
    least = "" if remedy.is_least else _(" Less may be enough: there was no time to try.")
    return f"{beginning} {conditions}.{least}"


def _measured(remedy: Remedy) -> str:
    """The last change by what it comes to: the score that it needs, or the tokens that are too many."""
    before, after = remedy.before, remedy.after
    if remedy.change.kind == "score" and before.score is not None and after.score is not None:
        scores = {"value": fine(after.score), "now": fine(before.score)}
        return _("with a score of %(value)s rather than %(now)s") % scores
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


def _beginning(remedy: Remedy) -> str:
    code = remedy.after.code
    if code is Code.TRUNCATED:
        return _("Its beginning would be in")
    if code is Code.SUMMARISED:
        return _("A summary of it would be in")
    if code is Code.COMPACTED:
        return _("It would be in, made shorter,")
    only_room = len(remedy.changes) == 1 and remedy.change.kind in {"budget", "cap"}
    return _("It would have fitted") if only_room else _("It would be in")


def cost(remedy: Remedy, place: Place, titles: Titles) -> str:
    """What this would do to the others."""
    comparison = remedy.comparison
    mine = {place, (remedy.after.section, remedy.after.ref)}
    gone = _others([change.decision for change in comparison.pushed_out], mine)
    cut = _others([change.decision for change in comparison.newly_cut], mine)
    came = _others([change.decision for change in comparison.newly_in], mine)
    parts = [
        _told(gone, titles, _("%(names)s would go for it."), "%(count)s other would go for it.",
              "%(count)s others would go for it."),
        _told(cut, titles, _("%(names)s would be told shorter."), "%(count)s other would be told shorter.",
              "%(count)s others would be told shorter."),
        _told(came, titles, _("%(names)s would come in, too."), "%(count)s other would come in, too.",
              "%(count)s others would come in, too."),
    ]  # fmt: skip
    return " ".join(part for part in parts if part) or _("Nothing else would go or come.")


def _others(decisions: Sequence[Decision], mine: set[Place]) -> list[Decision]:
    return [one for one in decisions if (one.section, one.ref) not in mine]


def _told(others: Sequence[Decision], titles: Titles, one: str, singular: str, plural: str) -> str:
    """A single one by its name, several by their count."""
    if len(others) == 1 and others[0].ref in titles:
        return one % {"names": titles[others[0].ref]}
    count = len(others)
    return ngettext(singular, plural, count) % {"count": f"{count:,}"} if others else ""


def untried(kinds: Sequence[Kind]) -> str:
    """What there was no time to try; empty where everything was."""
    if not kinds:
        return ""
    names = ", ".join(str(_KINDS[kind]) for kind in kinds)
    return _("There was no time to try: %(names)s.") % {"names": names}


_KINDS: Mapping[Kind, Promise] = {
    "budget": _lazy("another budget"),
    "cap": _lazy("another cap"),
    "top_k": _lazy("more places"),
    "threshold": _lazy("another threshold"),
    "reach": _lazy("a longer reach"),
    "score": _lazy("a higher score"),
    "source_score": _lazy("a higher score of its source"),
    "boost": _lazy("a rule that boosts it"),
    "pin": _lazy("pinning it"),
    "always_include": _lazy("a rule that includes it"),
    "without_rule": _lazy("the rules without it"),
    "without_exclusion": _lazy("a request that does not exclude it"),
    "not_superseded": _lazy("that nothing newer took its place"),
    "not_retired": _lazy("that it is not retired"),
    "without_other": _lazy("the context without the other one"),
    "shorter": _lazy("a shorter text"),
    "text": _lazy("a text in it"),
}
