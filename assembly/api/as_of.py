"""REST: what an agent would have been told at a moment. Nothing is recorded."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent
from assembly.access import assembly_for
from assembly.api.as_of_serializers import AsOfRequestSerializer, AsOfSerializer, MomentSerializer
from assembly.as_of.asked_then import asked_then
from assembly.as_of.near import Near, contexts_near
from assembly.as_of.service import AsOf, assemble_as_of
from assembly.asked import Asked
from assembly.engine.reasons import sentence, warning_sentence
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.recorded import recorded
from config.http.errors import NotFound
from teams.access import team_for
from teams.api.view import ApiView
from teams.models import Team

NAMES = ("at", "team", "topic", "profile", "max_tokens", "tokenizer")


class AgentAsOf(ApiView):
    @extend_schema(operation_id="agents_as_of", parameters=[AsOfRequestSerializer], responses=AsOfSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What the agent would have been told at that moment, from the versions that stood then.

        What could not be taken as of then is named under `limits`. Nothing is recorded.
        """
        wishes = self.validated(AsOfRequestSerializer, self.query(*NAMES))
        agent = agent_for(self.principal, slug)
        moment, named = wishes.pop("at"), wishes.pop("team")
        team = team_for(self.principal, named) if named else None
        found = assemble_as_of(agent=agent, team=team, asked=Asked(**wishes), moment=moment, principal=self.principal)
        near = contexts_near(agent=agent, team=team, moment=moment, principal=self.principal)
        return Response(AsOfSerializer(_document(agent, team, found, near)).data)


class AssemblyAsOf(ApiView):
    @extend_schema(operation_id="assemblies_as_of", parameters=[MomentSerializer], responses=AsOfSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """What the request of this assembly would have brought at another moment.

        Its agent and its team must still be there. What was added to it afterwards is left aside. Nothing is recorded.
        """
        moment = self.validated(MomentSerializer, self.query("at"))["at"]
        assembly = assembly_for(self.principal, id_)
        agent, team = _owners(self, assembly)
        asked = asked_then(recorded(assembly))
        found = assemble_as_of(agent=agent, team=team, asked=asked, moment=moment, principal=self.principal)
        near = contexts_near(agent=agent, team=team, moment=moment, principal=self.principal)
        return Response(AsOfSerializer(_document(agent, team, found, near)).data)


def _owners(view: ApiView, assembly: Assembly) -> tuple[Agent, Team | None]:
    """Raises NotFound where one of them was deleted."""
    agent = Agent.objects.visible_to(view.principal).filter(id=assembly.agent_id).first()
    if agent is None:
        raise NotFound(f"The agent “{assembly.agent_slug}”")
    if assembly.team_id is None:
        return agent, None
    team = Team.objects.visible_to(view.principal).filter(id=assembly.team_id).first()
    if team is None:
        raise NotFound(f"The team “{assembly.team_slug}”")
    return agent, team


def _document(agent: Agent, team: Team | None, found: AsOf, near: Near) -> dict[str, Any]:
    told, made = found.told, found.told.assembled
    labels = {section.key: section.label for section in made.sections}
    return {
        "at": found.moment,
        "agent": agent.slug,
        "team": team.slug if team else None,
        "topic": told.request.topic,
        "profile": told.profile.name,
        "profile_version": told.profile.version,
        "tokenizer": told.request.tokenizer,
        **{name: getattr(made, name) for name in ("budget", "tokens", "truncated", "sha256", "content", "sections")},
        "warnings": [{"code": code, "message": warning_sentence(code)} for code in made.warnings],
        "items": [_item_document(decision, labels[decision.section]) for decision in made.decisions],
        "limits": [{"code": limit.code, "message": limit.sentence} for limit in found.limits],
        "nearest": {"before": near.before, "after": near.after},
    }


def _item_document(decision: Decision, label: str) -> dict[str, Any]:
    names = ("ref", "section", "code", "included", "rank", "tokens", "tokens_full")
    return {**{name: getattr(decision, name) for name in names}, "reason": sentence(decision, label)}
