"""Two contexts beside each other, in plain sentences."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.again.beside import Beside
from assembly.again.side import Side
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
    counts = {effect: sum(one.effect == effect for one in comparison.changes) for effect in ("in", "out")}
    others = len(comparison.changes) - sum(counts.values())
    came, went = counts["in"], counts["out"]
    told = []
    if came:
        told.append(ngettext("%(n)s item comes in", "%(n)s items come in", came) % {"n": f"{came:,}"})
    if went:
        told.append(ngettext("%(n)s goes", "%(n)s go", went) % {"n": f"{went:,}"})
    if others:
        told.append(ngettext("%(n)s is told otherwise", "%(n)s are told otherwise", others) % {"n": f"{others:,}"})
    return told


def _sentence(parts: list[str]) -> str:
    return f"{', '.join(parts)}."
