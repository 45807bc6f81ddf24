"""What a record says of its request: for whom it was, and what was asked for."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from assembly.asked import Asked, Budgets
from assembly.engine.profile import Profile
from assembly.models import Assembly
from assembly.recorded import Recorded
from assembly.sources import Filters, Turn
from assembly.sources.additional_context import REF
from config.http.errors import DossierError
from teams.models import Team


class NobodyLeft(DossierError):
    """The agent or the team of a context is gone, so nothing can be gathered for it any more."""

    status = 409
    code = "nobody_left"
    title = "There is nobody left to tell this"


@dataclass(frozen=True, slots=True)
class Whom:
    """Whom a context was for, as they are today."""

    agent: Agent
    team: Team | None


def whom_of(assembly: Assembly) -> Whom:
    """The agent and the team, by one query each. Raises NobodyLeft."""
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    if agent is None:
        raise _nobody(assembly.agent_name)
    if assembly.team_id is None:
        return Whom(agent, None)
    team = Team.objects.filter(id=assembly.team_id).first()
    if team is None:
        raise _nobody(assembly.team_name)
    return Whom(agent, team)


def asked_again(told: Recorded) -> Asked:
    """The request once more, for the present moment; the texts that it brought along are among its candidates.

    A budget that was the profile's is the profile's again.
    """
    assembly, profile = told.assembly, told.inputs.profile
    kept: Mapping[str, Any] = assembly.request
    return Asked(
        topic=assembly.topic,
        profile=assembly.profile_name,
        max_tokens=None if assembly.budget == profile.budget else assembly.budget,
        tokenizer=assembly.tokenizer,
        session=kept.get("session") or "",
        history=_turns(told, profile),
        filters=_filters(kept.get("filters") or {}),
        budgets=Budgets(**(kept.get("budgets") or {})),
        strategy=kept.get("strategy") or {},
        additional_context=next((one.text for one in told.inputs.candidates if one.ref == REF), ""),
    )


def _turns(told: Recorded, profile: Profile) -> tuple[Turn, ...]:
    """The turns that came with the request, in their order, each once."""
    keys = {section.key for section in profile.sections if section.source == "turns"}
    turns = {one.position or 0: Turn(one.kind, one.text) for one in told.inputs.candidates if one.section in keys}
    return tuple(turns[place] for place in sorted(turns))


def _filters(kept: Mapping[str, Any]) -> Filters:
    since = kept.get("since")
    return Filters(
        since=datetime.datetime.fromisoformat(since) if since else None,
        event_types=_words(kept.get("event_types")),
        entity_types=_words(kept.get("entity_types")),
        exclude=tuple(kept.get("exclude") or ()),
    )


def _words(kept: list[str] | None) -> frozenset[str] | None:
    return None if kept is None else frozenset(kept)


def _nobody(name: str) -> NobodyLeft:
    return NobodyLeft(
        f"{name} was deleted, so nothing can be put together today. What was told stays as it was: open the context, "
        "or try changes that need no new reading, as another budget."
    )
