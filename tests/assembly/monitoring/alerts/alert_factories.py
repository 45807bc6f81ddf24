"""An alert on Ada's contexts in her team, and one on those of nobody's team."""

import datetime
from typing import Any

from agents.models import Agent
from assembly.models import Alert
from teams.models import Team

NOON = datetime.datetime(2026, 3, 14, 12, tzinfo=datetime.UTC)


def alert_on(agent: Agent, team: Team | None = None, **facts: Any) -> Alert:
    """An open alert, as if a context had shown it."""
    return Alert.objects.create(**{
        "agent_id": agent.id,
        "agent_slug": agent.slug,
        "agent_name": agent.name,
        "team_id": team.id if team else None,
        "team_slug": team.slug if team else "",
        "team_name": team.name if team else "",
        "profile_name": "conversation",
        "kind": "file_cut",
        "thing": "agent_file:1",
        "cause": "7",
        "name": "Knowledge",
        "detail": {"why": "Cut to fit: 3 of 9 paragraphs are in whole.", "file": "knowledge", "of": "agent"},
        "context": agent.id,
        "opened": NOON,
        **facts,
    })  # fmt: skip
