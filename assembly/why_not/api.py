"""REST endpoint that explains why an item is not in a context, and the smallest change that would include it."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.contexts.documents import decision_document
from assembly.contexts.serializers import DecisionSerializer
from assembly.engine.codes import DECISION_CODES
from assembly.engine.diff import DecisionChange
from assembly.engine.types import Candidate, Decision
from assembly.records.item_titles import reason_sentence, title_of
from assembly.why_not.answer import MAX_CHARACTERS, RankContext, WhyNotAnswer, answer_why_not
from assembly.why_not.changes import CHANGE_KINDS
from assembly.why_not.fix_search import Remedy
from assembly.why_not.not_considered import NOT_CONSIDERED_CODES, NotConsidered
from assembly.why_not.sentences import Titles, cost_sentence, remedy_sentence
from config.http.errors import Invalid
from teams.api.view import ApiView


class MatchSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    section = serializers.CharField()
    title = serializers.CharField()
    code = serializers.ChoiceField(choices=DECISION_CODES)
    included = serializers.BooleanField()


class CompetitorSerializer(MatchSerializer):
    rank = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True)
    tokens_full = serializers.IntegerField()


class RankContextSerializer(serializers.Serializer[Any]):
    cap = serializers.IntegerField(allow_null=True, help_text="Of its section; null: what remains of the budget.")
    used_before = serializers.IntegerField(help_text="Tokens that were used before its section.")
    around = CompetitorSerializer(
        many=True, help_text="Those that ranked around it, itself among them, the best first."
    )
    above = serializers.IntegerField(help_text="Number of items that rank above the first of them.")
    below = serializers.IntegerField(help_text="Number of items that rank below the last of them.")


class RemedyChangeSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=CHANGE_KINDS)
    section = serializers.CharField()
    ref = serializers.CharField()
    value = serializers.FloatField(help_text="What becomes of the number that the kind names; 0 where it has none.")
    name = serializers.CharField(allow_blank=True, help_text="What a rule finds it by, the rules, or the other's ref.")


class RemedySerializer(serializers.Serializer[Any]):
    message = serializers.CharField()
    changes = RemedyChangeSerializer(many=True, help_text="Applied together, in this order, they include it.")
    minimal = serializers.BooleanField(help_text="One step less of the last was tried, and does not bring it in.")
    complete = serializers.BooleanField(help_text="It is what brings in all of it; less may bring in a part.")
    code = serializers.ChoiceField(choices=DECISION_CODES, help_text="What then becomes of it.")
    needs_summary = serializers.BooleanField(help_text="It would be included as a summary that does not exist yet.")
    tokens = serializers.IntegerField(help_text="Tokens of the whole context then.")
    side_effects = serializers.CharField(help_text="What it does to the others, in a sentence.")
    excluded_refs = serializers.ListField(child=serializers.CharField(), help_text="Refs of what would go.")
    truncated_refs = serializers.ListField(child=serializers.CharField(), help_text="Refs of what would be truncated.")
    included_refs = serializers.ListField(
        child=serializers.CharField(), help_text="Refs of items that would be added, including itself."
    )


class NotConsideredSerializer(serializers.Serializer[Any]):
    code = serializers.ChoiceField(choices=NOT_CONSIDERED_CODES)
    message = serializers.CharField()
    ref = serializers.CharField(allow_null=True, help_text="Of an item that exists today.")
    name = serializers.CharField(allow_null=True)


class WhyNotSerializer(serializers.Serializer[Any]):
    considered = serializers.BooleanField()
    reason = serializers.CharField(help_text="The answer in a sentence.")
    decision = DecisionSerializer(allow_null=True, help_text="What became of it; null where it was not considered.")
    ranking = RankContextSerializer(allow_null=True)
    remedies = RemedySerializer(many=True, help_text="What would bring it in, each proved by running the engine.")
    untried = serializers.ListField(
        child=serializers.ChoiceField(choices=CHANGE_KINDS), help_text="What there was no time to try."
    )
    matches = MatchSerializer(many=True, help_text="All that could be meant, the one of this answer first.")
    not_considered = NotConsideredSerializer(many=True, help_text="Why what could be meant was not considered.")


PARAMETERS = [
    OpenApiParameter("ref", str, description="What it is about, with or without its version: memory:<id>."),
    OpenApiParameter("q", str, description="Or words: a name, or words of its text. The best match is answered for."),
    OpenApiParameter("section", str, description="The key of its section, if it is in several."),
]


class AssemblyWhyNot(ApiView):
    @extend_schema(
        operation_id="assemblies_why_not",
        summary="Explain why item is not in assembly",
        parameters=PARAMETERS,
        responses=WhyNotSerializer,
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Explain why an item is not in an assembly, where it ranked, and which smallest change would include it.

        The answer comes from the record. Changes that would include the item are found by running the engine with each.
        """
        query = _checked(self.query("ref", "q", "section"))
        assembly = assembly_for(self.principal, id_)
        found = answer_why_not(
            assembly, ref=query.get("ref", ""), words=query.get("q", ""), section=query.get("section", "")
        )
        return Response(WhyNotSerializer(_document(found)).data)


def _checked(query: dict[str, str]) -> dict[str, str]:
    for name, value in query.items():
        if len(value) > MAX_CHARACTERS:
            raise Invalid(name, f"Send at most {MAX_CHARACTERS} characters.", "max_length")
    if not (query.get("ref", "").strip() or query.get("q", "").strip()):
        raise Invalid("ref", "Say what you mean: its ref, or words of it as q.", "required")
    return query


def _document(found: WhyNotAnswer) -> dict[str, Any]:
    titles = {candidate.ref: title_of(candidate) for candidate in found.told.inputs.candidates}
    matches = [_match_document(one.decision, one.candidate) for one in found.matches]
    unconsidered = [_not_considered_document(one) for one in found.unconsidered]
    rank_context = found.standing
    if rank_context is None:
        told: dict[str, Any] = {"considered": False, "reason": found.unconsidered[0].sentence, "decision": None}
    else:
        sentence = reason_sentence(rank_context.decision, rank_context.section.label, titles)
        told = {"considered": True, "reason": sentence, "decision": _decision_document(found, rank_context)}
    return {
        **told,
        "ranking": _rank_context_document(rank_context) if rank_context else None,
        "remedies": [_remedy_document(one, found, titles) for one in found.remedies.found],
        "untried": found.remedies.untried,
        "matches": matches,
        "not_considered": unconsidered,
    }


def _decision_document(found: WhyNotAnswer, rank_context: RankContext) -> dict[str, Any]:
    position = found.told.decisions.index(rank_context.decision)
    candidate = found.told.inputs.candidates[position]
    return decision_document(rank_context.decision, position, rank_context.section, candidate)


def _match_document(decision: Decision, candidate: Candidate) -> dict[str, Any]:
    facts = {name: getattr(decision, name) for name in ("ref", "section", "code", "included")}
    return {**facts, "title": title_of(candidate)}


def _rank_context_document(rank_context: RankContext) -> dict[str, Any]:
    around = [
        {
            **_match_document(one.decision, one.candidate),
            **{name: getattr(one.decision, name) for name in ("rank", "score", "tokens_full")},
        }
        for one in rank_context.around
    ]
    facts = {name: getattr(rank_context, name) for name in ("cap", "used_before", "above", "below")}
    return {**facts, "around": around}


def _remedy_document(remedy: Remedy, found: WhyNotAnswer, titles: Titles) -> dict[str, Any]:
    decision = found.matches[0].decision
    comparison = remedy.comparison
    return {
        "message": remedy_sentence(remedy, found.told.inputs, titles),
        "changes": [
            {name: getattr(change, name) for name in ("kind", "section", "ref", "value", "name")}
            for change in remedy.changes
        ],
        "minimal": remedy.is_least,
        "complete": remedy.whole,
        "code": remedy.after.code,
        "needs_summary": remedy.awaits_summary,
        "tokens": comparison.tokens_after,
        "side_effects": cost_sentence(remedy, (decision.section, decision.ref), titles),
        "excluded_refs": _refs(comparison.pushed_out),
        "truncated_refs": _refs(comparison.newly_cut),
        "included_refs": _refs(comparison.newly_in),
    }


def _refs(changes: tuple[DecisionChange, ...]) -> list[str]:
    return [change.decision.ref for change in changes]


def _not_considered_document(one: NotConsidered) -> dict[str, Any]:
    thing = one.thing
    return {
        "code": one.why,
        "message": one.sentence,
        "ref": thing.ref if thing else None,
        "name": thing.name if thing else None,
    }
