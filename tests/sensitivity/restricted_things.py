"""One restricted thing of every kind, each with a marker in its texts, beside the others of a team of tests/rights."""

import datetime
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.models import Agent, DailyLog
from agents.services import daily_log_append
from assembly.models import ConflictDecision
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create, recall_test_run
from assembly.simulation.proposals.services import proposal_create
from assembly.simulation.simulate import Overrides
from memories.api.urls import ENDPOINTS
from memories.embeddings.file_splitting import file_split
from memories.embeddings.indexing import document_split
from memories.models import Memory
from memories.services import MemoryFacts, memory_create, memory_update
from teams.models import OrganisationFile, Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM, Principal
from teams.sealing.parts import rows_open, rows_seal
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.rights.world import HELPED, LED, WATCHED, Owned, World

SECRET_DAY = datetime.date(2026, 1, 4)
MARKER = "Vyqxmarker"
"""The beginning of all markers."""
HOUSE_MARKER = f"{MARKER}house"
"""The marker in the file of the organisation, which every admin of a team may read."""
WRITER = Principal(kind="person", id=uuid.UUID(int=7), name="Ada", is_admin=True)
"""The author of the files, because changes by people are told on the start page."""
FACTS: dict[str, dict[str, Any]] = {
    "sessions": {"title": "{m} session", "external_id": "{m}-session"},
    "events": {"type": "message", "content": {"text": "{m} event"}},
    "entities": {"type": "Person", "name": "{m} entity"},
    "relations": {"type": "{m} relation"},
    "patterns": {"name": "{m} pattern", "guidance": "{m} guidance", "keywords": ["tea"]},
    "documents": {"path": "{m}.md", "content": "{m} document says that tea is served.", "is_open": True},
    "threads": {"title": "{m} thread", "summary": "{m} summary"},
    "tools": {"name": "{m}-tool", "description": "{m} tool"},
    "tasks": {"goal": "{m} goal"},
}


@dataclass(frozen=True, slots=True)
class Restricted:
    """The restricted things of a team and its agent: the marker, and their ids by their word in addresses."""

    marker: str
    owned: Owned
    """The team with the ids of the restricted things in place of those of the others."""

    def at(self, route: str) -> Owned:
        """The ids for a route, in which a file has another key for teams than for agents."""
        whose = route.removeprefix("api/v1/").split("/")[0]
        key = {"teams": "RULES", "organisation": "secret-style"}.get(whose, "KNOWLEDGE")
        memory = self.owned.ids[f"{'agents' if whose == 'agents' else 'teams'}/memories"]
        return replace(self.owned, ids={**self.owned.ids, "files": key, "memories": memory, "<slug:kind>": memory})


def marked(value: Any, marker: str) -> Any:
    """The value with the marker in its texts."""
    if isinstance(value, str):
        return value.replace("{m}", marker)
    if isinstance(value, dict):
        return {name: marked(one, marker) for name, one in value.items()}
    return value


def restricted_things(world: World) -> dict[str, Restricted]:
    """The restricted things of the three teams of `mixed`, by the team's slug."""
    add_organisation_file()
    return {slug: _restricted(world.teams[slug]) for slug in (LED, HELPED, WATCHED)}


def add_organisation_file() -> None:
    """Add a file of the organisation."""
    title, content = f"{HOUSE_MARKER} style", f"# {HOUSE_MARKER}\n\n{HOUSE_MARKER} words about tea"
    file = organisation_file_create(key="secret-style", title=title, content=content, principal=WRITER, note=title)
    raise_level(OrganisationFile, file.pk)
    stored = OrganisationFile.objects.get(pk=file.pk)
    file_save(file=stored, content=f"{content} and cake", expected_version=1, author=WRITER.author, note=title)
    file_split(kind="organisation_file", id_=file.pk)


def raise_level(model: Any, id_: Any, level: Sensitivity = Sensitivity.RESTRICTED) -> None:
    """Set the level of a row."""
    if level > Sensitivity.INTERNAL:
        rows_seal(model._meta.db_table, [id_])
    assert model.everything.filter(pk=id_).update(sensitivity=level) == 1
    if level <= Sensitivity.INTERNAL:
        rows_open(model._meta.db_table, [id_])


def _restricted(owned: Owned) -> Restricted:
    marker = f"{MARKER}{owned.team.slug}"
    ids = {
        **add_items(owned.agent, marker, Sensitivity.RESTRICTED),
        **add_files(owned.agent, owned.team, marker),
        **add_memories(owned.agent, owned.team, marker),
    }
    _archive_one(owned.agent, marker)
    ids |= _contexts(owned, marker, ids)
    return Restricted(marker, replace(owned, ids={**owned.ids, **ids}))


def _archive_one(agent: Agent, marker: str) -> None:
    """Add a memory that was archived for a restricted reason."""
    facts = MemoryFacts(kind="fact", text=f"{marker} old memory", sensitivity=Sensitivity.RESTRICTED)
    memory = memory_create(owner=agent, facts=facts, principal=SYSTEM)
    because = f"{marker} is over"
    memory_update(
        memory=memory, expected_version=1, facts=facts, superseded_by=None, retired_because=because, principal=SYSTEM
    )


def add_items(agent: Agent, marker: str, level: Sensitivity) -> dict[str, Any]:
    """Add an item of each kind of this level; return their ids by their word in addresses."""
    ids: dict[str, Any] = {}
    for noun in ENDPOINTS:
        facts = marked(FACTS[noun.name], marker)
        if noun.name == "relations":
            facts |= {"source_id": ids["entities"], "target_id": ids["entities"]}
        [made] = noun.creates(agent=agent, facts=[facts], principal=SYSTEM)
        raise_level(type(made), made.pk, level)
        ids[noun.name] = made.pk
        if noun.name == "documents":
            document_split(id_=made.pk)
    return ids


def add_files(agent: Agent, team: Team, marker: str) -> dict[str, Any]:
    """Raise and write a file of the agent and one of the team, and a daily log."""
    for owner, key in ((agent, "KNOWLEDGE"), (team, "RULES")):
        file = owner.files.get(file_key=key)
        raise_level(type(file), file.pk)
        file = file_save(
            file=type(file).objects.get(pk=file.pk),
            content=f"# {marker} {key}\n\n{marker} text of tea",
            expected_version=file.version,
            author=WRITER.author,
            note=f"{marker} note",
        )
        file_split(kind=file.ref.partition(":")[0], id_=file.pk)
    log = daily_log_append(agent=agent, date=SECRET_DAY, text=f"{marker} day of tea", principal=WRITER)
    raise_level(DailyLog, log.pk)
    daily_log_append(agent=agent, date=SECRET_DAY, text=f"{marker} night of tea", principal=WRITER)
    return {"logs": SECRET_DAY, "daily-logs": SECRET_DAY}


def add_memories(agent: Agent, team: Team, marker: str) -> dict[str, Any]:
    """Add a memory of the agent and one of the team."""
    ids = {}
    for kind, owner in (("agents", agent), ("teams", team)):
        facts = MemoryFacts(kind="fact", text=f"{marker} memory of tea", sensitivity=Sensitivity.RESTRICTED)
        ids[f"{kind}/memories"] = memory_create(owner=owner, facts=facts, principal=SYSTEM).id
    return ids


def _contexts(owned: Owned, marker: str, ids: Mapping[str, Any]) -> dict[str, Any]:
    """A context that tells everything, and what hangs on it."""
    Agent.objects.filter(pk=owned.agent.pk).update(clearance=Sensitivity.RESTRICTED)
    owned.agent.refresh_from_db()
    asked = AssemblyRequest(topic=f"{marker} tea", profile="stack", max_tokens=8_000)
    told = assemble(agent=owned.agent, team=owned.team, principal=SYSTEM, asked=asked)
    assert marker in told.content
    assert told.assembly.sensitivity == Sensitivity.RESTRICTED
    other = assemble(agent=owned.agent, team=owned.team, principal=SYSTEM, asked=asked).assembly
    proposal, _ = proposal_create(
        assembly=told.assembly, wishes=Overrides(max_tokens=500), note=f"{marker} note", principal=SYSTEM
    )
    mine, ours = (Memory.objects.get(id=ids[f"{kind}/memories"]) for kind in ("agents", "teams"))
    conflict = conflict_between(mine, ours)
    conflict.refresh_from_db()
    assert conflict.sensitivity == Sensitivity.RESTRICTED
    ConflictDecision.objects.create(conflict=conflict, action="undo", reason=f"{marker} reason", by_ref="system")
    alert = alert_on(
        owned.agent,
        owned.team,
        thing="agent_file:3",
        name=f"{marker} file",
        detail={"why": f"{marker} is cut.", "file": "knowledge", "of": "agent"},
        sensitivity=Sensitivity.RESTRICTED,
    )
    expected = [Expectation("include", ref=f"memory:{ids['agents/memories']}")]
    facts = RecallFacts(name=f"{marker} recall", topic=f"{marker} tea", expectations=expected)
    recall = recall_test_create(agent=owned.agent, team=owned.team, facts=facts, principal=SYSTEM)
    recall_test_run(test=recall, principal=SYSTEM)
    Agent.objects.filter(pk=owned.agent.pk).update(clearance=Sensitivity.INTERNAL)
    owned.agent.refresh_from_db()
    return {
        "contexts": told.assembly.id,
        "assemblies": told.assembly.id,
        "other context": other.id,
        "proposals": proposal.id,
        "conflicts": conflict.id,
        "alerts": alert.id,
        "recall-tests": recall.id,
    }
