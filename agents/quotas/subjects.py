"""The subjects that limits and uses belong to: `key:…`, `person:…`, `agent:…`, `team:…`, each with the id."""

from teams.principal import Principal


def subjects_of(principal: Principal) -> tuple[str, ...]:
    """Return whose uses the principal's count towards: its own, its agent's and its teams'; nobody's for the system."""
    if principal.kind == "system":
        return ()
    agent = (f"agent:{principal.agent_id}",) if principal.agent_id else ()
    return (principal.ref, *agent, *(f"team:{team}" for team in sorted(principal.team_ids)))


def whose_limit(kind: str, subject: str) -> str:
    """Return how a refusal names the subject of a limit to a caller of this kind."""
    if subject.startswith(("agent:", "team:")):
        return f"this {subject.partition(':')[0]}"
    return {"person": "you", "address": "this address"}.get(kind, "this key")
