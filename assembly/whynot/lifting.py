"""Ways past what gave a candidate no chance at all: a rule, a filter, a successor, one that says the same. Pure."""

from collections.abc import Callable, Iterator, Mapping

from assembly.engine.codes import Code
from assembly.whynot.changes import excluding, named_by
from assembly.whynot.standpoint import Standpoint, Way


def _without_rule(stand: Standpoint) -> Way:
    rules = excluding(stand.inputs.request.rules, stand.candidate, stand.section)
    labels = [rule.label for rule in rules]
    return Way(lambda n: stand.change("without_rule", n, ", ".join(labels[:n])), len(rules), guess=1)


def _without_exclusion(stand: Standpoint) -> Way:
    names = ", ".join(sorted(named_by(stand.inputs.request.exclude, stand.candidate.ref)))
    return Way(lambda _: stand.change("without_exclusion", name=names))


def _not_superseded(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("not_superseded", name=stand.candidate.superseded_by or ""))


def _not_retired(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("not_retired"))


def _without_other(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("without_other", name=str(stand.decision.detail["by"])))


def _text(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("text"))


_LIFTED: Mapping[Code, Callable[[Standpoint], Way]] = {
    Code.RULE_EXCLUDED: _without_rule,
    Code.FILTERED: _without_exclusion,
    Code.SUPERSEDED: _not_superseded,
    Code.EXPIRED: _not_retired,
    Code.DUPLICATE: _without_other,
    Code.EMPTY: _text,
}


def lifted(stand: Standpoint) -> Iterator[Way]:
    """The way past the obstacle; none where it had its chance."""
    if way := _LIFTED.get(stand.decision.code):
        yield way(stand)
