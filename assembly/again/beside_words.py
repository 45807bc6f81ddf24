"""Two contexts beside each other, in plain sentences."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.again.beside import Beside
from assembly.again.side import Side
from assembly.comparing import Change
from assembly.engine.codes import SourceCode, WarningCode
from assembly.engine.reasons import source_sentence, warning_sentence
from assembly.warnings import label_of


def count_sentence(beside: Beside) -> str:
    """How much is different, in one sentence or two."""
    comparison = beside.comparison
    if beside.is_same and comparison.is_same:
        return _("Both say the same, to the letter.")
    if beside.is_same:
        return _("Both say the same, to the letter. What was left out, or how it ranked, is different.")
    more = [*_counted(beside)]
    tokens = comparison.tokens_after - comparison.tokens_before
    size = _("%(n)s tokens more") if tokens > 0 else _("%(n)s tokens less") if tokens else _("as many tokens")
    told = _("%(after)s tokens instead of %(before)s: %(size)s.") % {
        "after": f"{comparison.tokens_after:,}",
        "before": f"{comparison.tokens_before:,}",
        "size": size % {"n": f"{abs(tokens):,}"} if tokens else size,
    }
    return f"{_sentence(more)} {told}" if more else told


def side_warnings(side: Side) -> list[tuple[str, str]]:
    """The codes of a context's warnings, each with its sentence."""
    return [(code, _warning(code, side)) for code in side.warnings]


def _warning(code: str, side: Side) -> str:
    if code in set(SourceCode):
        names = ", ".join(label_of(name) for name in sorted(side.missing))
        return f"{names}: {source_sentence(SourceCode(code))}"
    return warning_sentence(WarningCode(code))


def _counted(beside: Beside) -> list[str]:
    comparison = beside.comparison
    came, went, cut = len(comparison.newly_in), len(comparison.pushed_out), len(comparison.newly_cut)
    ranked = sum(ranks_otherwise(one) for one in comparison.changes)
    others = len(comparison.changes) - came - went - cut - ranked
    told = []
    if came:
        told.append(ngettext("%(n)s item comes in", "%(n)s items come in", came) % {"n": f"{came:,}"})
    if went:
        told.append(ngettext("%(n)s goes", "%(n)s go", went) % {"n": f"{went:,}"})
    if cut:
        told.append(ngettext("%(n)s is cut", "%(n)s are cut", cut) % {"n": f"{cut:,}"})
    if others:
        told.append(ngettext("%(n)s is told otherwise", "%(n)s are told otherwise", others) % {"n": f"{others:,}"})
    if ranked:
        told.append(ngettext("%(n)s ranks otherwise", "%(n)s rank otherwise", ranked) % {"n": f"{ranked:,}"})
    return told


def ranks_otherwise(change: Change) -> bool:
    """Whether nothing is different of the item but its rank or its score."""
    before, after = change.before, change.after
    same = before is not None and after is not None and (before.ref, before.code) == (after.ref, after.code)
    return change.effect == "changed" and same and not change.is_cut


def _sentence(parts: list[str]) -> str:
    return f"{', '.join(parts)}."
