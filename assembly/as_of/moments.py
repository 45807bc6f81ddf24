"""Which moments can be looked back to."""

import datetime

from django.utils import timezone

from agents.models import Agent
from config.http.errors import Invalid


def refuse_moment(agent: Agent, moment: datetime.datetime) -> None:
    """Raises Invalid for what is still to come, and for what was before there was the agent."""
    if moment > timezone.now():
        raise Invalid("at", "This moment is still to come. Choose one that has passed.", "future")
    if moment < agent.created:
        began = f"{agent.created.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S}"
        raise Invalid("at", f"{agent.name} was made on {began} UTC. Choose a later moment.", "before_agent")
