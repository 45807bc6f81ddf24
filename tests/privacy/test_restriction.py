"""While a subject is restricted, no context has what is linked; afterwards, everything is as it was."""

import datetime
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent, AgentFile, ApiKey
from assembly.models import Conflict
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.http.errors import Conflict as ConflictError
from config.http.errors import Forbidden
from memories.models import Chunk, Entity, Event, FilePassage, Memory, Relation, Session, TaskFrame
from memories.services import MemoryFacts, memories_create, memory_create, memory_update
from privacy.models import MentionStatus, Subject, WithheldThing
from privacy.subjects.services import SubjectFacts, mentions_decide, subject_delete, subject_restrict
from teams.activity.models import Activity
from teams.level_changes import level_set, offered_levels
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.client import Api
from tests.privacy.subject_factories import NAME, link_all, scanned_subject, tell_everything
from tests.sensitivity.restricted_things import add_items, raise_level

pytestmark = pytest.mark.django_db

NOW = datetime.datetime(2026, 1, 5, 12, tzinfo=datetime.UTC)
PLAIN = "Plainly"


@pytest.fixture
def stocked(agent: Agent, team: Team) -> Agent:
    """An agent, cleared up to restricted, with things that are about nobody."""
    Agent.objects.filter(id=agent.id).update(clearance=Sensitivity.RESTRICTED)
    agent.refresh_from_db()
    for number in range(2):
        add_items(agent, f"{PLAIN}{number}", Sensitivity.INTERNAL)
    facts = [MemoryFacts(kind="fact", text=f"{PLAIN} {number} cups of tea.") for number in range(5)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    return agent


def told(agent: Agent, team: Team, profile: str) -> tuple[str, list[Any]]:
    """The text and the decisions of a context for an admin of the organisation, who reads everything."""
    topic = f"Who is {PLAIN}, where is the tea of Zora?"
    asked = AssemblyRequest(topic=topic, profile=profile, max_tokens=20_000, now=NOW)
    result = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    return result.content, list(result.decisions)


def restrict(subject: Subject, *, restricted: bool = True) -> Subject:
    return subject_restrict(subject=subject, restricted=restricted, principal=SYSTEM)


def levels() -> dict[Any, int]:
    """The level of every row that has one."""
    models = (Memory, Event, Entity, Relation, Session, TaskFrame, AgentFile, Chunk, FilePassage, Conflict)
    return {
        (model.__name__, row): level
        for model in models
        for row, level in model.everything.values_list("pk", "sensitivity")
    }


@pytest.mark.parametrize("profile", ["stack", "memory"])
def test_a_context_is_as_if_the_linked_things_did_not_exist(profile: str, stocked: Agent, team: Team) -> None:
    for row in (stocked.files.get(file_key="KNOWLEDGE"), team.files.get(file_key="RULES")):
        raise_level(type(row), row.pk, Sensitivity.WITHHELD)  # everybody has them; they are empty as yet
    without = told(stocked, team, profile)
    assert PLAIN in without[0]
    tell_everything(stocked, team)
    organisation_file_create(key="house", title="House", content=f"Tea for {NAME}.", principal=SYSTEM)
    subject = scanned_subject()
    link_all(subject)
    before = told(stocked, team, profile)
    assert NAME in before[0]
    subject = restrict(subject)
    assert told(stocked, team, profile) == without
    restrict(subject, restricted=False)
    after = told(stocked, team, profile)
    assert after[0] == before[0]
    assert after[1] == before[1]


def test_every_level_is_restored_with_those_of_the_parts(stocked: Agent, team: Team) -> None:
    ids = tell_everything(stocked, team)
    raise_level(Memory, ids["agents/memories"], Sensitivity.CONFIDENTIAL)
    session, goal = Session.objects.get(id=ids["sessions"]), TaskFrame.objects.get(id=ids["tasks"])
    below = TaskFrame.objects.create(agent=stocked, session=session, parent=goal, goal="Below", sensitivity=2)
    TaskFrame.objects.create(agent=stocked, session=session, parent=below, goal="Lowest", sensitivity=2)
    Event.objects.create(agent=stocked, session=session, type="message", content={"x": "y"}, size=9, occurred_at=NOW)
    one, other = Memory.objects.get(id=ids["agents/memories"]), Memory.objects.filter(text__startswith=PLAIN)[0]
    conflict_between(one, other)
    subject = scanned_subject()
    link_all(subject)
    before = levels()
    subject = restrict(subject)
    during = levels()
    assert during != before
    assert during["TaskFrame", below.id] == Sensitivity.WITHHELD
    # What is added to a withheld thing is withheld as well, and has the default afterwards.
    late = Event.objects.create(
        agent=stocked, session=session, type="message", content={"x": "late"}, size=9, occurred_at=NOW, sensitivity=4
    )
    late.refresh_from_db()
    assert late.sensitivity == Sensitivity.WITHHELD
    restrict(subject, restricted=False)
    after = levels()
    assert after.pop(("Event", late.id)) == Sensitivity.INTERNAL
    assert after == before
    assert not WithheldThing.objects.exists()


def test_admins_of_the_organisation_alone_see_what_is_withheld(
    agent: Agent, team: Team, owner: User, admin: User, as_person: Any
) -> None:
    memory = memory_create(owner=team, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    Agent.objects.filter(id=agent.id).update(clearance=Sensitivity.RESTRICTED)
    key = Api(api_key_create(agent=agent, name="all", scopes=ApiKey.Scope.values)[1])
    subject = scanned_subject()
    link_all(subject)
    address = f"teams/{team.slug}/memories/{memory.id}"
    assert [api.get(address).status_code for api in (as_person(owner), key)] == [200, 200]
    searched = [f"teams/{team.slug}/memories/search?q={words}" for words in ("Zora", "came")]
    assert all(NAME in key.get(one).content.decode() for one in searched)
    restrict(subject)
    assert [api.get(address).status_code for api in (as_person(owner), key)] == [404, 404]
    assert [key.get(one).json() for one in searched] == [{"results": []}] * 2
    seen = as_person(admin).get(address)
    assert (seen.status_code, seen.json()["sensitivity"]) == (200, "withheld")


def test_what_is_linked_later_is_withheld_and_what_is_dismissed_is_told_again(agent: Agent) -> None:
    one, other = (
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} {word}"), principal=SYSTEM)
        for word in ("came", "left")
    )
    subject = scanned_subject()
    mentions = dict(subject.mentions.values_list("thing", "id"))
    link = MentionStatus.LINKED
    mentions_decide(subject=subject, mentions=[mentions[one.id]], status=link, principal=SYSTEM)
    subject = restrict(subject)
    assert (_level(one), _level(other)) == (4, 1)
    mentions_decide(subject=subject, mentions=[mentions[other.id]], status=link, principal=SYSTEM)
    dismissed = MentionStatus.DISMISSED
    mentions_decide(subject=subject, mentions=[mentions[one.id]], status=dismissed, principal=SYSTEM)
    assert (_level(one), _level(other)) == (1, 4)


def _level(memory: Memory) -> int:
    return Memory.everything.get(id=memory.id).sensitivity


def test_a_thing_of_two_restricted_subjects_stays_withheld_until_both_are_lifted(agent: Agent) -> None:
    text = f"{NAME} met Yorick Quux"
    facts = MemoryFacts(kind="fact", text=text, sensitivity=Sensitivity.CONFIDENTIAL)
    memory = memory_create(owner=agent, facts=facts, principal=SYSTEM)
    subjects = [scanned_subject(SubjectFacts(name, "visitor")) for name in (NAME, "Yorick Quux")]
    for place, subject in enumerate(subjects):
        link_all(subject)
        subjects[place] = restrict(subject)
    restrict(subjects[0], restricted=False)
    assert _level(memory) == Sensitivity.WITHHELD
    restrict(subjects[1], restricted=False)
    assert _level(memory) == Sensitivity.CONFIDENTIAL


def test_nobody_lowers_or_chooses_the_level_by_hand(agent: Agent, admin: User, admin_api: Api) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    with pytest.raises(Forbidden):
        level_set(row=memory, level=Sensitivity.WITHHELD, principal=admin.principal)
    address = f"agents/{agent.slug}/memories/{memory.id}"
    answer = admin_api.patch(address, {"sensitivity": "withheld"}, if_match=admin_api.get(address)["ETag"])
    assert answer.status_code == 422
    subject = scanned_subject()
    link_all(subject)
    restrict(subject)
    memory = Memory.objects.get(id=memory.id)
    assert offered_levels(admin.principal, memory) == [Sensitivity.WITHHELD]
    with pytest.raises(Forbidden, match="Lift the restriction"):
        level_set(row=memory, level=Sensitivity.INTERNAL, principal=admin.principal)


def test_a_version_saved_meanwhile_is_no_part_of_the_restriction(agent: Agent, owner: User) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    subject = scanned_subject()
    link_all(subject)
    subject = restrict(subject)
    memory = Memory.objects.get(id=memory.id)
    facts = MemoryFacts(kind="fact", text=f"{NAME} left")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    assert set(memory.versions.values_list("sensitivity", flat=True)) == {1, 3}
    restrict(subject, restricted=False)
    assert _level(memory) == Sensitivity.INTERNAL


def test_a_restricted_subject_is_not_deleted_and_its_acts_are_recorded(agent: Agent) -> None:
    subject = scanned_subject()
    subject = restrict(subject)
    assert restrict(subject).version == subject.version  # nothing to do
    with pytest.raises(ConflictError):
        subject_delete(subject=subject, principal=SYSTEM)
    subject = restrict(subject, restricted=False)
    assert list(subject.versions.values_list("restricted", flat=True)) == [False, True, False]
    subject_delete(subject=subject, principal=SYSTEM)
    acts = Activity.objects.filter(target=f"subject:{subject.id}").order_by("id").values_list("action", flat=True)
    assert list(acts) == ["subject.created", "subject.restricted", "subject.released", "subject.deleted"]
    assert not Activity.objects.filter(target__contains="Zora").exists()
