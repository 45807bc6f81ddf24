"""Setting levels: who may raise and lower them, over REST and on the page, and what is raised together with a text."""

import datetime
from typing import Any

import pytest
from django.test import Client

from agents.keys import api_key_create
from agents.models import Agent, AgentFile, DailyLog
from agents.services import daily_log_append
from memories.embeddings.indexing import document_split
from memories.models import Chunk, Document, Entity, Event, Memory, MemoryVersion, Relation, Session, TaskFrame
from memories.services import MemoryFacts, MergeRequest, memories_create, memories_merge, memory_create
from memories.views.sensitivity import MODELS
from teams.level_changes import level_set
from teams.models import Activity, OrganisationFile, Team, TeamFile, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.sensitivity import SETTABLE_LEVELS
from teams.versioned_text.versioned_file import file_save
from tests.client import Api
from tests.memories.agent_items import things_of
from tests.sensitivity.restricted_things import add_items

pytestmark = pytest.mark.django_db
DAY = datetime.date(2026, 1, 5)
PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED = SETTABLE_LEVELS


@pytest.fixture
def memory(team: Team) -> Memory:
    """A memory of the team, which is internal."""
    return memory_create(owner=team, facts=MemoryFacts(kind="fact", text="Tea at four."), principal=SYSTEM)


def patched(person: User, memory: Memory, level: str) -> int:
    """The status of a request that gives the team's memory this level."""
    address = f"teams/care/memories/{memory.id}"
    version = Memory.everything.get(id=memory.id).version
    return Api(person=person.principal).patch(address, {"sensitivity": level}, if_match=f'"{version}"').status_code


def level_of(memory: Memory) -> int:
    return Memory.everything.get(id=memory.id).sensitivity


def test_editors_raise_up_to_their_clearance_and_admins_lower(
    memory: Memory, owner: User, editor: User, teammate: User
) -> None:
    assert patched(teammate, memory, "confidential") == 403
    assert patched(editor, memory, "restricted") == 403
    assert patched(editor, memory, "public") == 403
    assert level_of(memory) == INTERNAL
    assert patched(editor, memory, "confidential") == 200
    assert patched(editor, memory, "internal") == 403
    assert patched(owner, memory, "restricted") == 200
    assert patched(editor, memory, "restricted") == 404  # for an editor, it does not exist any more
    assert patched(owner, memory, "public") == 200
    assert level_of(memory) == PUBLIC
    levels = MemoryVersion.objects.filter(file=memory).order_by("version").values_list("sensitivity", flat=True)
    assert [*levels] == [INTERNAL, CONFIDENTIAL, RESTRICTED, PUBLIC]
    changes = Activity.objects.filter(action="sensitivity.changed").order_by("created")
    assert [change.detail["sensitivity"] for change in changes] == ["confidential", "restricted", "public"]


def test_a_key_creates_and_raises_as_far_as_its_scope_and_never_lowers(agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(clearance=RESTRICTED)
    api = Api(api_key_create(agent=agent, scopes=["read:confidential"])[1])

    def created(level: str) -> Any:
        return api.post(
            f"agents/{agent.slug}/memories", {"kind": "fact", "text": f"It is {level}.", "sensitivity": level}
        )

    assert created("restricted").status_code == 403
    assert created("public").status_code == 403
    assert created("secret").status_code == 422
    made = created("confidential").json()
    assert made["sensitivity"] == "confidential"
    lower = api.patch(f"agents/{agent.slug}/memories/{made['id']}", {"sensitivity": "internal"}, if_match='"1"')
    assert lower.status_code == 403
    plain = Api(api_key_create(agent=agent)[1])
    assert plain.get(f"agents/{agent.slug}/memories/{made['id']}").status_code == 404


def test_every_kind_of_item_can_be_raised_over_rest(agent: Agent, owner: User) -> None:
    api = Api(person=owner.principal)
    for noun, thing in things_of(agent).items():
        address = f"agents/{agent.slug}/{noun}/{thing.pk}"
        answer = api.patch(address, {"sensitivity": "restricted"}, if_match=api.get(address)["ETag"])
        assert answer.status_code == 200, (noun, answer.content)
        assert answer.json()["sensitivity"] == "restricted"


def test_files_and_logs_are_raised_over_rest_without_another_text(agent: Agent, team: Team, owner: User) -> None:
    api = Api(person=owner.principal)
    for address in (f"agents/{agent.slug}/files/KNOWLEDGE", f"teams/{team.slug}/files/GOALS"):
        before = api.get(address)
        body = {"content": before.json()["content"], "sensitivity": "confidential"}
        answer = api.put(address, body, if_match=before["ETag"])
        assert answer.status_code == 200, answer.content
        assert (answer.json()["sensitivity"], answer.json()["version"]) == ("confidential", 2)
    made = api.put(
        f"agents/{agent.slug}/daily-logs/2026-01-05",
        {"content": "Tea", "sensitivity": "restricted"},
        if_none_match="*",
    )
    assert (made.status_code, made.json()["sensitivity"]) == (201, "restricted")


@pytest.fixture
def people(owner: User, teammate: User, outsider: User, admin: User) -> dict[str, User]:
    """The cast by name."""
    return {"owner": owner, "teammate": teammate, "outsider": outsider, "admin": admin}


def test_the_page_changes_the_level_of_every_kind(agent: Agent, team: Team, people: dict[str, User]) -> None:
    ids = add_items(agent, "Plain", INTERNAL)
    organisation_file_create(key="style", title="Style", content="Plain", principal=SYSTEM)
    log = daily_log_append(agent=agent, date=DAY, text="Tea.", principal=SYSTEM)
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Tea."), principal=SYSTEM)
    rows = {
        **{noun.rstrip("s"): id_ for noun, id_ in ids.items() if noun not in {"entities", "tasks"}},
        "entity": ids["entities"],
        "task": ids["tasks"],
        "memory": memory.id,
        "agent_file": AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE").id,
        "team_file": TeamFile.objects.get(team=team, file_key="GOALS").id,
        "daily_log": log.id,
        "organisation_file": OrganisationFile.objects.get().id,
    }
    assert set(rows) == set(MODELS)
    for kind, id_ in rows.items():
        address, chosen = f"/sensitivity/{kind}/{id_}/", {"sensitivity": "2", "note": ""}
        by_admin = people["admin" if kind == "organisation_file" else "owner"]
        assert posted(people["teammate"], address, chosen) == 403
        assert posted(people["outsider"], address, chosen) == (403 if kind == "organisation_file" else 404)
        assert posted(by_admin, address, {"sensitivity": "9"}) == 422
        assert posted(by_admin, address, chosen) == 302
        assert MODELS[kind].everything.get(id=id_).sensitivity == CONFIDENTIAL, kind
        assert posted(people["teammate"], address, chosen) == 404


def posted(person: User, address: str, body: dict[str, str]) -> int:
    browser = Client()
    browser.force_login(person)
    return browser.post(address, body).status_code


def test_what_belongs_to_a_text_is_raised_with_it(agent: Agent) -> None:
    ids = add_items(agent, "Plain", INTERNAL)
    session = Session.objects.get(id=ids["sessions"])
    task = TaskFrame(agent=agent, goal="Tea", session=session)
    task.save()
    events = [Event(agent=agent, type="message", content={}, size=2, occurred_at=session.started_at, **of) for of in (
        {"session": session}, {"task": task})]  # fmt: skip
    for event in events:
        event.save()
    level_set(row=session, level=CONFIDENTIAL, principal=SYSTEM)
    late = Event(agent=agent, type="message", content={}, size=2, occurred_at=session.started_at, session=session)
    late.save()
    assert {
        *Event.objects.filter(id__in=[*(one.id for one in events), late.id]).values_list("sensitivity", flat=True)
    } == {CONFIDENTIAL}
    level_set(row=Entity.objects.get(id=ids["entities"]), level=RESTRICTED, principal=SYSTEM)
    assert Relation.objects.get(id=ids["relations"]).sensitivity == RESTRICTED
    document = Document.objects.get(id=ids["documents"])
    for level in (RESTRICTED, INTERNAL):
        document = level_set(row=document, level=level, principal=SYSTEM)
        assert {*Chunk.objects.filter(document=document).values_list("sensitivity", flat=True)} == {level}
        document_split(id_=document.id)
        assert {*Chunk.objects.filter(document=document).values_list("sensitivity", flat=True)} == {level}


def test_a_merged_memory_has_the_highest_level_and_no_note_tells_it(team: Team) -> None:
    facts = [MemoryFacts(kind="fact", text=f"{level} tea", sensitivity=level) for level in (INTERNAL, RESTRICTED)]
    plain, secret = memories_create(owner=team, facts=facts, principal=SYSTEM)
    merging = MergeRequest(secret.id, {plain.id: 1, secret.id: 1}, None)
    kept = memories_merge(owner=team, merging=merging, principal=SYSTEM)
    assert kept.sensitivity == RESTRICTED
    assert secret.text not in MemoryVersion.objects.filter(file=plain).latest("version").note
    other = memory_create(owner=team, facts=MemoryFacts(kind="fact", text="Tea."), principal=SYSTEM)
    merging = MergeRequest(other.id, {other.id: 1, secret.id: kept.version}, None)
    assert memories_merge(owner=team, merging=merging, principal=SYSTEM).sensitivity == RESTRICTED


def test_an_earlier_version_stays_as_sensitive_as_it_was(team: Team, owner: User, teammate: User) -> None:
    file = TeamFile.objects.get(team=team, file_key="GOALS")
    file = file_save(file=file, content="The secret", expected_version=1, author=SYSTEM.author, sensitivity=RESTRICTED)
    file = file_save(file=file, content="No secret", expected_version=2, author=SYSTEM.author, sensitivity=INTERNAL)
    versions = {
        person.username: [
            one["version"]
            for one in Api(person=person.principal).get("teams/care/files/GOALS/versions").json()["results"]
        ]
        for person in (owner, teammate)
    }
    assert versions == {"owner": [3, 2, 1], "teammate": [3, 1]}
    assert Api(person=teammate.principal).get("teams/care/files/GOALS/versions/2").status_code == 404


def test_admins_set_the_clearance_of_an_agent(agent: Agent, owner: User, editor: User) -> None:
    address, body = f"agents/{agent.slug}", {"clearance": "confidential"}
    assert Api(person=editor.principal).patch(address, body, if_match='"1"').status_code == 403
    answer = Api(person=owner.principal).patch(address, body, if_match='"1"')
    assert (answer.status_code, answer.json()["clearance"]) == (200, "confidential")
    assert Activity.objects.get(action="agent.changed").detail["before"] == {"clearance": "internal"}


def test_a_log_above_the_clearance_is_neither_overwritten_nor_told(agent: Agent, agent_api: Api) -> None:
    log = daily_log_append(agent=agent, date=DAY, text="The secret", principal=SYSTEM)
    level_set(row=log, level=RESTRICTED, principal=SYSTEM)
    address = f"agents/{agent.slug}/daily-logs/{DAY}"
    for answer in (
        agent_api.post(address, {"text": "More"}),
        agent_api.put(address, {"content": "Other"}, if_none_match="*"),
        agent_api.get(address),
    ):
        assert answer.status_code in {403, 404, 412}
        assert b"secret" not in answer.content
    assert DailyLog.everything.get(id=log.id).content == "The secret"
