"""Where what changed can be looked at: both versions beside each other."""

from collections.abc import Iterable

from django.urls import reverse

from agents.models import Agent
from assembly.again.cause import Cause
from teams.models import Team

VERSIONED = frozenset({"file_changed", "log_written"})


def cause_addresses(causes: Iterable[Cause], agent: Agent | None, team: Team | None) -> dict[Cause, str]:
    """The addresses of those that have one. Files and days of an agent or a team that is gone have none."""
    found = {cause: _address(cause, agent, team) for cause in causes}
    return {cause: address for cause, address in found.items() if address}


def _address(cause: Cause, agent: Agent | None, team: Team | None) -> str:
    kind, _, id_ = cause.ref.partition(":")
    between = f"?from={cause.before}&to={cause.after}" if cause.before and cause.after else ""
    if cause.kind in VERSIONED and between:
        history = _history(kind, cause.name, agent, team)
        return f"{history}{between}" if history else ""
    if kind == "memory" and cause.at:
        return reverse("memory_versions", args=[id_])
    if kind == "rule" and cause.kind != "rule_deleted":
        changed = cause.kind == "rule_changed" and between
        return reverse("rule_compare", args=[cause.name]) + between if changed else reverse("rule_page", args=[id_])
    if kind == "profile" and cause.at and between:
        return reverse("profile_compare", args=[cause.name]) + between
    return ""


def _history(kind: str, name: str, agent: Agent | None, team: Team | None) -> str:
    """The page that compares versions of a file, or of a day's log; "" where its owner is gone."""
    if kind == "team_file":
        return reverse("team_file_compare", args=[team.slug, name]) if team else ""
    if agent is None:
        return ""
    if kind == "agent_file":
        return reverse("agent_file_compare", args=[agent.slug, name])
    return f"/agents/{agent.slug}/logs/{name}/history/compare/"
