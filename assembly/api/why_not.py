"""REST: why something is not in a context, and which smallest change would bring it in."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.api.documents import decision_document
from assembly.api.why_not_serializers import WhyNotSerializer
from assembly.comparing import Change
from assembly.engine.types import Candidate, Decision
from assembly.views.titles import reason, title_of
from assembly.whynot.answer import WhyNot, why_not
from assembly.whynot.conditions import Titles
from assembly.whynot.finding import MAX_CHARACTERS
from assembly.whynot.remedies import Remedy
from assembly.whynot.sentences import cost, would_be_in
from assembly.whynot.standing import Standing
from assembly.whynot.unconsidered import Unconsidered
from config.http.errors import Invalid
from teams.api.view import ApiView

PARAMETERS = [
    OpenApiParameter("ref", str, description="What it is about, with or without its version: memory:<id>."),
    OpenApiParameter("q", str, description="Or words: a name, or words of its text. The best match is answered for."),
    OpenApiParameter("section", str, description="The key of its section, where it stands in several."),
]


class AssemblyWhyNot(ApiView):
    @extend_schema(operation_id="assemblies_why_not", parameters=PARAMETERS, responses=WhyNotSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Why something is not in an assembly, where it ranked, and which smallest change would bring it in.

        It is told from the record; what would bring it in is found by running the engine on it with one thing changed.
        """
        query = _checked(self.query("ref", "q", "section"))
        assembly = assembly_for(self.principal, id_)
        found = why_not(assembly, ref=query.get("ref", ""), words=query.get("q", ""), section=query.get("section", ""))
        return Response(WhyNotSerializer(_document(found)).data)


def _checked(query: dict[str, str]) -> dict[str, str]:
    for name, value in query.items():
        if len(value) > MAX_CHARACTERS:
            raise Invalid(name, f"Send at most {MAX_CHARACTERS} characters.", "max_length")
    if not (query.get("ref", "").strip() or query.get("q", "").strip()):
        raise Invalid("ref", "Say what you mean: its ref, or words of it as q.", "required")
    return query


def _document(found: WhyNot) -> dict[str, Any]:
    titles = {candidate.ref: title_of(candidate) for candidate in found.told.inputs.candidates}
    matches = [_match_document(one.decision, one.candidate) for one in found.matches]
    unconsidered = [_unconsidered_document(one) for one in found.unconsidered]
    stands = found.standing
    if stands is None:
        told: dict[str, Any] = {"considered": False, "reason": found.unconsidered[0].sentence, "decision": None}
    else:
        sentence = reason(stands.decision, stands.section.label, titles)
        told = {"considered": True, "reason": sentence, "decision": _decision_document(found, stands)}
    return {
        **told,
        "standing": _standing_document(stands) if stands else None,
        "remedies": [_remedy_document(one, found, titles) for one in found.remedies.found],
        "untried": found.remedies.untried,
        "matches": matches,
        "unconsidered": unconsidered,
    }


def _decision_document(found: WhyNot, stands: Standing) -> dict[str, Any]:
    return decision_document(stands.decision, found.told.decisions.index(stands.decision), stands.section)


def _match_document(decision: Decision, candidate: Candidate) -> dict[str, Any]:
    facts = {name: getattr(decision, name) for name in ("ref", "section", "code", "included")}
    return {**facts, "title": title_of(candidate)}


def _standing_document(stands: Standing) -> dict[str, Any]:
    around = [
        {
            **_match_document(one.decision, one.candidate),
            **{name: getattr(one.decision, name) for name in ("rank", "score", "tokens_full")},
        }
        for one in stands.around
    ]
    facts = {name: getattr(stands, name) for name in ("cap", "used_before", "above", "below")}
    return {**facts, "around": around}


def _remedy_document(remedy: Remedy, found: WhyNot, titles: Titles) -> dict[str, Any]:
    decision = found.matches[0].decision
    comparison = remedy.comparison
    return {
        "sentence": would_be_in(remedy, found.told.inputs, titles),
        "changes": [
            {name: getattr(change, name) for name in ("kind", "section", "ref", "value", "name")}
            for change in remedy.changes
        ],
        "least": remedy.is_least,
        "whole": remedy.whole,
        "code": remedy.after.code,
        "awaits_summary": remedy.awaits_summary,
        "tokens": comparison.tokens_after,
        "cost": cost(remedy, (decision.section, decision.ref), titles),
        "pushed_out": _refs(comparison.pushed_out),
        "newly_cut": _refs(comparison.newly_cut),
        "newly_in": _refs(comparison.newly_in),
    }


def _refs(changes: tuple[Change, ...]) -> list[str]:
    return [change.decision.ref for change in changes]


def _unconsidered_document(one: Unconsidered) -> dict[str, Any]:
    thing = one.thing
    return {
        "why": one.why,
        "sentence": one.sentence,
        "ref": thing.ref if thing else None,
        "name": thing.name if thing else None,
    }
