"""The account of a second round, as the API and the pages of a context tell it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from django.utils.translation import gettext_lazy, ngettext
from rest_framework import serializers

from assembly.engine.codes import SourceCode
from assembly.engine.scopes import SCOPES
from assembly.models import Assembly
from assembly.pipeline.second_round import Outcome
from assembly.records.warnings import recorded_source_label, source_failure_sentence


class SecondRoundSourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    count = serializers.IntegerField(help_text="Rows that it returned.")
    added = serializers.IntegerField(help_text="Of these, the items that the first round did not have.")
    limit = serializers.IntegerField(help_text="Rows that it would have returned at most.")
    ms = serializers.IntegerField()
    code = serializers.ChoiceField(choices=list(SourceCode), allow_null=True, help_text="null: it answered.")
    error = serializers.CharField(allow_blank=True, help_text="What failed, in plain words.")


class SecondRoundSerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(
        choices=get_args(Outcome),
        help_text="added: it found more; nothing_new; no_time: it was not begun, because the first round had taken "
        "more than was left; stopped: it was given up when its time was over.",
    )
    completeness = serializers.FloatField(help_text="The share of the named entities that the first round named.")
    names = serializers.ListField(child=serializers.CharField(), help_text="Names that nothing found covered.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES), help_text="Memory scopes of which nothing was in."
    )
    query = serializers.CharField(allow_blank=True, help_text="The query with the names; empty if it was the same.")
    nearby = serializers.IntegerField(help_text="Entities that were found near the names in the graph.")
    first = serializers.IntegerField(help_text="Items that the first round found.")
    added = serializers.IntegerField(help_text="Items that the second round added.")
    started_ms = serializers.IntegerField(help_text="From the beginning of the assembly.")
    ms = serializers.IntegerField()
    sources = SecondRoundSourceSerializer(many=True)


def second_round_document(assembly: Assembly) -> dict[str, Any] | None:
    """Return the recorded account of a second round as JSON values; None if none was needed."""
    recorded = assembly.request.get("second_round")
    if recorded is None:
        return None
    return {**recorded, "sources": [_source_document(one) for one in recorded["sources"]]}


def _source_document(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recorded report of a source; the reason of a failure is `error` in the API."""
    return {"error" if name == "fault" else name: fact for name, fact in recorded.items()}


OUTCOMES = {
    "added": gettext_lazy("The sources were read a second time, and further items were found."),
    "nothing_new": gettext_lazy("The sources were read a second time, but nothing further was found."),
    "no_time": gettext_lazy(
        "A second round was not begun, because the first one had taken more time than was left for the request."
    ),
    "stopped": gettext_lazy(
        "A second round was given up when its time was over. The context has what the first one found."
    ),
}


@dataclass(frozen=True, slots=True)
class SecondRoundSourceRow:
    """A source in the table of the second round; `trouble` is a sentence if it failed."""

    label: str
    count: int
    added: int
    limit: int
    ms: int
    trouble: str


@dataclass(frozen=True, slots=True)
class SecondRoundRow:
    """A second round on the page of a context: its outcome as a sentence, what was missing, what was asked."""

    outcome: str
    completeness: float
    names: Sequence[str]
    scopes: Sequence[str]
    query: str
    nearby: str
    first: int
    added: int
    ms: int
    sources: Sequence[SecondRoundSourceRow]


def second_round_row(assembly: Assembly) -> SecondRoundRow | None:
    """Return the second round of the context; None if none was needed."""
    recorded = assembly.request.get("second_round")
    if recorded is None:
        return None
    count = recorded["nearby"]
    nearby = ngettext("%(count)s entity near these names", "%(count)s entities near these names", count)
    return SecondRoundRow(
        outcome=str(OUTCOMES[recorded["outcome"]]),
        nearby=nearby % {"count": count} if count else "",
        sources=[_source_row(one) for one in recorded["sources"]],
        **{name: recorded[name] for name in ("completeness", "names", "scopes", "query", "first", "added", "ms")},
    )


def _source_row(recorded: Mapping[str, Any]) -> SecondRoundSourceRow:
    name, code = recorded["name"], recorded["code"]
    trouble = source_failure_sentence(name, SourceCode(code)) if code else ""
    counts = {key: recorded[key] for key in ("count", "added", "limit", "ms")}
    return SecondRoundSourceRow(label=recorded_source_label(name), trouble=trouble, **counts)
