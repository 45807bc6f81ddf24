"""Warnings of a context and of its sources are put into sentences for its readers here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from assembly.engine.codes import SourceCode, WarningCode
from assembly.engine.reasons import embedder_sentence, source_sentence, summariser_sentence, warning_sentence
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.records.bodies import load_bodies
from assembly.records.reader import DAMAGE_ERRORS, StoredAssembly
from assembly.records.recorded_quality import refs_without_conflict
from assembly.records.section_names import name_of_heading
from assembly.sources import SOURCES
from assembly.sources.base import EMBEDDER
from config.keys.key_errors import KeysUnavailable

SUMMARISER = "summariser"
"""Name of the summariser's report among the reports of sources."""
UNREAD_CONFLICTS = "conflicts_unread"
"""Field of a record's request that is true if the conflicts between its candidates could not be read."""
SHORT_STATUSES = {"cut", "partial", "left_out"}
"""Statuses of sections in which something was cut or excluded because a limit was reached."""
UNNAMED_SOURCE = "The name of the source cannot be read, because the record was changed outside of Dossier."

SERVER_SENTENCES: Mapping[str, tuple[str, Callable[[SourceCode], str]]] = {
    EMBEDDER: ("Meaning of the topic", embedder_sentence),
    SUMMARISER: ("Summaries", summariser_sentence),
}
"""Label and failure sentence of model servers, which are reported on like sources, by report name."""


@dataclass(frozen=True, slots=True)
class WarningMessage:
    """A warning: its code and its sentence for people."""

    code: str
    message: str


def load_warning_bodies(assemblies: Sequence[Assembly]) -> None:
    """Load, in one query, the bodies of the assemblies whose warnings name a source; for lists."""
    load_bodies([one for one in assemblies if not set(SourceCode).isdisjoint(one.warnings)])


def load_outcome_bodies(assemblies: Sequence[Assembly]) -> None:
    """Load, in one query, the bodies of assemblies whose warnings name a source or which are truncated."""
    load_bodies([one for one in assemblies if one.truncated or not set(SourceCode).isdisjoint(one.warnings)])


def shortage_sentence(assembly: Assembly) -> str:
    """Return a few words on the sections that reached their limit, else on shortened items; empty without either."""
    if not assembly.truncated:
        return ""
    try:
        labels = [
            name_of_heading(section["key"], section["label"])
            for section in assembly.sections
            if section["status"] in SHORT_STATUSES
        ]
    except (*DAMAGE_ERRORS, KeysUnavailable):
        return gettext("over limit")
    if not labels:
        return gettext("items shortened")
    if len(labels) == 1:
        return gettext("%(section)s over limit") % {"section": labels[0]}
    return gettext("%(section)s +%(count)s over limit") % {"section": labels[0], "count": len(labels) - 1}


def warnings_of(assembly: Assembly) -> list[WarningMessage]:
    """Return the recorded warnings as sentences; a source's warning names the source if the record is readable."""
    return [WarningMessage(code, _message(code, assembly)) for code in assembly.warnings]


def _message(code: str, assembly: Assembly) -> str:
    if code not in set(SourceCode):
        return warning_sentence(WarningCode(code))
    try:
        names = [report["name"] for report in assembly.sources if report.get("code") == code]
    except (*DAMAGE_ERRORS, KeysUnavailable):  # a record that cannot be read must not break a list of contexts
        return f"{UNNAMED_SOURCE} {source_sentence(SourceCode(code))}"
    sources = ", ".join(recorded_source_label(name) for name in names if name not in SERVER_SENTENCES)
    told = [f"{sources}: {source_sentence(SourceCode(code))}"] if sources else []
    told += [source_failure_sentence(name, SourceCode(code)) for name in names if name in SERVER_SENTENCES]
    return " ".join(told)


def source_failure_sentence(name: str, code: SourceCode) -> str:
    """Return the sentence on the failure of a source or server, and its effect on the context."""
    return SERVER_SENTENCES[name][1](code) if name in SERVER_SENTENCES else source_sentence(code)


def recorded_source_label(source: str) -> str:
    """Return the label of a source for people; an external source's own name."""
    if source in SERVER_SENTENCES:
        return SERVER_SENTENCES[source][0]
    kind, _, name = source.partition(":")
    return name or (SOURCES[kind].label if kind in SOURCES else kind)


def flagged_conflicts(told: StoredAssembly) -> list[Reconciliation]:
    """Return the recorded conflicts of which the warning CONFLICT_FLAGGED tells."""
    return flagged_among(
        told.inputs.request.reconciliations, told.assembly, told.decisions, told.inputs.profile.conflict_sensitivity
    )


def flagged_among(
    reconciliations: Iterable[Reconciliation], assembly: Assembly, decisions: Sequence[Decision], sensitivity: float
) -> list[Reconciliation]:
    """Return those of which the assembly's warning CONFLICT_FLAGGED tells; `sensitivity` is that of its profile.

    Of a major one on which nobody had decided, a side is included or was withheld; of any other one, both sides are
    included, because neither may be left out, or the profile only warns. It tells of none with an item that is archived
    or superseded, or that a rule, the request or its origin excludes.
    """
    if WarningCode.CONFLICT_FLAGGED not in assembly.warnings:
        return []
    fates = {decision.ref: decision for decision in decisions}
    without_conflict = refs_without_conflict(decisions)
    found = []
    for one in reconciliations:
        sides = [fates[ref] for ref in (one.left, one.right) if ref in fates]
        if len(sides) < 2:  # noqa: PLR2004 - a record that was changed outside of Dossier
            continue
        is_told = all(side.included for side in sides) and not one.is_duplicate and one.resolution != "both"
        is_flagged = (
            one.strategy(sensitivity) == "flag"
            and without_conflict.isdisjoint((one.left, one.right))
            and any(side.included or side.detail.get("conflict") == one.id for side in sides)
        )
        if is_told or is_flagged:
            found.append(one)
    return found
