"""Which moments can be looked back to."""

import datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from agents.models import Agent
from config.http.errors import Invalid


def refuse_moment(agent: Agent, moment: datetime.datetime) -> None:
    """Raises Invalid for what is still to come, and for what was before there was the agent."""
    if moment > timezone.now():
        raise Invalid("at", "This moment is still to come. Choose one that has passed.", "future")
    if moment < agent.created:
        began = f"{agent.created.astimezone(ZoneInfo(agent.timezone)):%Y-%m-%d %H:%M:%S}"
        detail = f"{agent.name} was made on {began} ({agent.timezone}). Choose a later moment."
        raise Invalid("at", detail, "before_agent")


def last_noon(agent: Agent) -> datetime.datetime:
    """The last noon where the agent works; where it is younger than that, the present minute."""
    now = timezone.now().astimezone(ZoneInfo(agent.timezone))
    noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
    noon = noon if noon <= now else noon - datetime.timedelta(days=1)
    return noon if noon >= agent.created else now.replace(second=0, microsecond=0)
