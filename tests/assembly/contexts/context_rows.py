"""Contexts for lists: rows with what lists ask about, and nothing to replay."""

import datetime
import hashlib
from typing import Any

from agents.models import Agent
from assembly.engine.refs import without_version
from assembly.models import Assembly, Piece, StoredText, text_hash
from teams.models import Team

NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)


def piece(ref: str, text: str = "") -> int:
    """A thing that contexts can hold. Returns the number of its piece."""
    said = text or ref
    StoredText.objects.get_or_create(sha256=text_hash(said), defaults={"text": said})
    sha256 = hashlib.sha256(f"{ref} {said}".encode()).digest()
    made = Piece(
        id=int.from_bytes(sha256[:8], signed=True), sha256=sha256, ref=ref, named=without_version(ref),
        text_sha256=text_hash(said), facts={},
    )  # fmt: skip
    made.save(force_insert=True)
    return made.id


def context(agent: Agent, team: Team | None = None, *, age: int = 0, **facts: Any) -> Assembly:
    """One of the agent in the team, so many minutes before noon."""
    owners = {"agent_id": agent.id, "agent_slug": agent.slug, "agent_name": agent.name}
    if team:
        owners |= {"team_id": team.id, "team_slug": team.slug, "team_name": team.name}
    sizes = {"budget": 16_000, "tokens": 900, "truncated": False, "left_out": 0, "assembly_ms": 12}
    plain = {
        "requested_by": "system", "requester_name": "Dossier", "profile_name": "conversation", "profile_version": 1,
        "tokenizer": "cl100k_base", "now": NOON, "warnings": [], "sha256": bytes(32), "engine_version": 1,
    }  # fmt: skip
    made = Assembly(**{**owners, **sizes, **plain, "created": NOON - age * MINUTE, **facts})
    made.save(force_insert=True)
    return made
