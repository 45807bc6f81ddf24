"""`conflict_resolution` is that of the gravest conflict, and agrees with the warnings of the same answer."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.models import Agent
from assembly.conflicts.services import Choice, conflict_resolve
from assembly.contract.assembled_context import AnsweredAssembly, conflict_documents
from assembly.engine.profile import Profile
from assembly.models import Assembly, Conflict
from assembly.pipeline import read_plan
from assembly.profiles.services import profile_create
from assembly.rules.services import rule_create
from config.db.statements import Statement
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs
from tests.client import Api

pytestmark = pytest.mark.django_db

TOPIC = "When does the support line open?"
MERGE = {"strategy": "merge", "confidence": 1.0, "reasoning": "No conflicts detected"}
FLAG = {"strategy": "flag", "confidence": 0.6, "reasoning": "Major conflicts require human review"}
MINOR = {"strategy": "precedence", "confidence": 0.8, "reasoning": "Minor conflicts, use source precedence"}
UNCHECKED = {"strategy": "flag", "confidence": 0.6, "reasoning": "Conflicts could not be checked"}
ABSENT = {"strategy": "merge", "confidence": 1.0, "reasoning": "No conflicts between included items"}


def answer(agent_api: Api, **facts: Any) -> tuple[dict[str, Any], list[str]]:
    """The resolution of all, and the codes of the warnings."""
    told = agent_api.post("memory/assemble", {"request_id": "one", "intent": TOPIC, **facts})
    assert told.status_code in {200, 201}, told.json()
    metadata = told.json()["metadata"]
    return metadata["conflict_resolution"], [warning["code"] for warning in metadata["warnings"]]


def pair(agent: Agent, left: str, right: str, **facts: Any) -> Conflict:
    return conflict_between(remember(agent, left), remember(agent, right), **facts)


def major(agent: Agent) -> Conflict:
    return pair(agent, EIGHTY, NINETY)


def minor(agent: Agent) -> Conflict:
    return pair(agent, "The support line has 40 desks.", "The support line has 41 desks.", severity=0.1)


def duplicate(agent: Agent) -> Conflict:
    said = "The support line is open on Sundays."
    return pair(agent, said, f"{said} Indeed.", kind="duplicate", severity=0.0)


def decided(agent: Agent, choice: Choice = "left") -> Conflict:
    """A decision after which both memories still stand, as those of files do."""
    conflict = pair(agent, "The support line costs 5 euros.", "The support line costs 7 euros.")
    conflict_resolve(conflict=conflict, choice=choice, principal=SYSTEM)
    Memory.objects.update(superseded_by=None, retired_because="")
    return conflict


def test_duplicates_alone_are_merged(agent: Agent, agent_api: Api) -> None:
    duplicate(agent)
    assert answer(agent_api) == (MERGE, [])


def test_minor_ones_are_decided_by_precedence_whatever_else_is_merged_or_decided(agent: Agent, agent_api: Api) -> None:
    for make in (minor, duplicate, decided):
        make(agent)
    assert answer(agent_api) == (MINOR, [])


def test_a_decision_precedes_duplicates(agent: Agent, agent_api: Api) -> None:
    for make in (decided, duplicate):
        make(agent)
    resolution, warnings = answer(agent_api)
    assert (resolution["strategy"], resolution["confidence"], warnings) == ("user_choice", 1.0, [])
    assert resolution["reasoning"].startswith("Dossier decided on ")


@pytest.mark.parametrize("others", [[minor], [decided], [duplicate], [minor, decided, duplicate]])
def test_a_flagged_one_is_the_gravest(agent: Agent, agent_api: Api, others: list[Any]) -> None:
    for make in (major, *others):
        make(agent)
    assert answer(agent_api) == (FLAG, ["CONFLICT_FLAGGED"])


def test_a_withheld_one_is_flagged(agent: Agent, agent_api: Api, admin: User) -> None:
    major(agent)
    text = (
        "name: holder\nconflicts: withhold\nsections:\n  - {key: agent_memories, heading: Mine, layer: L5, "
        "source: agent_memories, shape: lines}\n"
    )
    profile_create(name="holder", content=text, principal=admin.principal)
    assert answer(agent_api, profile="holder") == (FLAG, ["CONFLICT_FLAGGED"])


def write(team: Team, key: str, text: str) -> None:
    file = team.files.get(file_key=key)
    file_save(file=file, content=f"# Hours\n\n{text}", expected_version=file.version, author=SYSTEM.author)


@pytest.mark.parametrize("is_decided", [False, True])
def test_a_decided_or_minor_one_of_which_both_sides_stay_is_flagged(
    agent: Agent, team: Team, agent_api: Api, is_decided: bool
) -> None:
    """Whole files are never left out: both of what a person decided, and of what precedence would, stay."""
    write(team, "CONTEXT", EIGHTY)
    write(team, "RULES", NINETY)
    run_jobs()
    conflict = Conflict.objects.get()
    Conflict.objects.update(severity=0.1)
    if is_decided:
        conflict_resolve(conflict=conflict, choice="left", principal=SYSTEM)
    resolution, warnings = answer(agent_api, profile="coding", team=team.slug)
    assert "CONFLICT_FLAGGED" in warnings
    assert resolution == FLAG


def test_a_major_one_without_a_warning_is_not_flagged(agent: Agent, agent_api: Api) -> None:
    """A rule excludes one side, so that the other one is in no conflict."""
    Memory.objects.filter(id=major(agent).left_item).update(kind="rumour")
    rule_create(name="without", content="then: {exclude: [{memory_kind: rumour}]}\n", owner=None, principal=SYSTEM)
    assert answer(agent_api) == (ABSENT, [])


def test_conflicts_that_could_not_be_read_are_not_called_none(
    agent: Agent, agent_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    major(agent)
    monkeypatch.setattr(read_plan, "conflicts_statement", lambda *_: Statement("SELECT 1 / 0", {}))
    first = answer(agent_api)
    assert first == (UNCHECKED, ["COHERENCE_FAILURE"])
    assert Assembly.objects.get().request["conflicts_unread"] is True
    assert answer(agent_api) == first, "repeated from the record"


def test_a_low_coherence_says_nothing_about_conflicts() -> None:
    assembly = cast("Assembly", SimpleNamespace(warnings=["COHERENCE_FAILURE"], request={}))
    decision = SimpleNamespace(ref="memory:1@1", included=True, signals=(("coherence", 0.2),))
    low = cast("Any", [(decision, None)])
    profile = Profile(name="x", version=1, sections=(), coherence_min=0.5)
    told = conflict_documents(AnsweredAssembly(assembly, "", profile, low))
    assert told == {"conflict_resolution": MERGE, "conflicts": []}


def test_unread_conflicts_are_reported_beside_a_low_coherence() -> None:
    request = {"conflicts_unread": True}
    assembly = cast("Assembly", SimpleNamespace(warnings=["COHERENCE_FAILURE"], request=request))
    decision = SimpleNamespace(ref="memory:1@1", included=True, signals=(("coherence", 0.2),))
    profile = Profile(name="x", version=1, sections=(), coherence_min=0.5)
    document = conflict_documents(AnsweredAssembly(assembly, "", profile, cast("Any", [(decision, None)])))
    assert document == {"conflict_resolution": UNCHECKED, "conflicts": []}
