"""The file with everything about a subject has every linked thing, its versions, and the contexts that told it."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.models import Alert, AssemblyFeedback, AssemblyFlag
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.sources.base import ConversationTurn
from memories.jobs.services import RetryLater
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Event, Job
from memories.services import MemoryFacts, memories_create, memory_create, memory_update
from privacy.erasure.places import PLACES, Treatment
from privacy.models import MentionStatus, Subject, SubjectFile
from privacy.subjects import export
from privacy.subjects.export import FILE_RETENTION, expired_files_delete, subject_file_create, write_subject_file
from privacy.subjects.further_rows import LINKED_TABLES, NOT_IN_FILE, SUBJECT_TABLES, further_places, model_of
from privacy.subjects.services import mentions_decide
from teams.activity.models import Activity
from teams.models import Reading, Team, User
from teams.principal import SYSTEM
from teams.sealing.fields import UNREADABLE_NOTICE
from teams.sensitivity import Sensitivity, reading_everything
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.client import Api, problem
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.privacy.subject_factories import KINDS_OF_AGENT, NAME, link_all, scanned_subject, tell_everything

pytestmark = pytest.mark.django_db


def entries(content: bytes) -> tuple[str, dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sorted(archive.namelist()) == ["data.json", "index.html"]
        return archive.read("index.html").decode(), json.loads(archive.read("data.json"))


def written(subject: Subject) -> tuple[str, dict[str, Any]]:
    file = subject_file_create(subject=subject, principal=SYSTEM)
    assert file.finished_at
    return entries(bytes(SubjectFile.objects.get(id=file.id).content))


def test_every_linked_thing_is_in_it_with_all_versions(agent: Agent, team: Team) -> None:
    tell_everything(agent, team, Sensitivity.RESTRICTED)
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} drinks <tea>"), principal=SYSTEM)
    facts = MemoryFacts(kind="fact", text=f"{NAME} drinks coffee")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    context = assemble(agent=agent, team=team, asked=AssemblyRequest(topic="What to drink?"), principal=SYSTEM).assembly
    Event.objects.create(
        agent=agent, type="message", content={"items": [NAME], "keys": {"items": "x"}}, size=9,
        occurred_at=timezone.now(),
    )  # fmt: skip
    subject = scanned_subject()
    link_all(subject)
    page, data = written(subject)
    things = data["things"]
    assert {thing["kind"] for thing in things} == KINDS_OF_AGENT | {"team_file"}
    [mine] = [thing for thing in things if thing["id"] == str(memory.id)]
    assert [version["texts"]["content"] for version in mine["versions"]] == [
        f"{NAME} drinks coffee",
        f"{NAME} drinks <tea>",
    ]
    assert mine["origin"] == "person"
    assert mine["sensitivity"] == "internal"
    assert mine["contexts"] == 1
    restricted = [thing for thing in things if thing["sensitivity"] == "restricted"]
    assert len(restricted) >= len(KINDS_OF_AGENT) - 1
    [told] = data["contexts"]
    assert told["id"] == str(context.id)
    assert told["topic"] == "What to drink?"
    assert f"memory:{memory.id}" in told["told"]
    assert data["subject"]["identifiers"][1] == {"kind": "email", "value": "zora.quell@example.org"}
    assert f"{NAME} drinks &lt;tea&gt;" in page
    assert "<tea>" not in page
    assert str(context.id) in page


def test_what_else_is_stored_about_them_is_in_it(agent: Agent, team: Team, admin: User) -> None:
    left, right, *others = (
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text, sensitivity=level), principal=SYSTEM)
        for text, level in (
            (f"{NAME} drinks tea", Sensitivity.RESTRICTED),
            (f"{NAME} drinks no tea", Sensitivity.INTERNAL),
            (f"{NAME} the painter", Sensitivity.INTERNAL),
            (f"{NAME} the painter was born in 1900", Sensitivity.INTERNAL),
        )
    )
    conflict = conflict_between(left, right)
    spared = conflict_between(*others)
    asked = AssemblyRequest(topic="What to drink?", history=(ConversationTurn("user", f"Ask {NAME} first."),))
    context = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    AssemblyFeedback.objects.create(assembly=context.id, given_by="system", note="Too short.")
    AssemblyFlag.objects.create(assembly_id=context.id, by_ref="system", note=f"{NAME} complained.")
    alert = {"agent_id": agent.id, "agent_slug": agent.slug, "agent_name": agent.name, "profile_name": "default"}
    Alert.objects.create(
        **alert, kind="file_cut", thing=f"memory:{left.id}", cause="1", name="Tea", sensitivity=3, opened=timezone.now()
    )
    Team.objects.filter(id=team.id).update(name=f"{NAME} & Co")
    job = Job.objects.create(kind="unknown", arguments={"of": "zora quell"}, status="done")
    subject = scanned_subject()
    link_all(subject)
    painter = list(subject.mentions.filter(thing__in=[other.id for other in others]).values_list("id", flat=True))
    mentions_decide(subject=subject, mentions=painter, status=MentionStatus.DISMISSED, principal=SYSTEM)
    file = subject_file_create(subject=subject, principal=SYSTEM)
    page, data = entries(bytes(SubjectFile.objects.get(id=file.id).content))
    rows = {(row["table"], row["id"]): row for row in data["further"]}
    tables = {table for table, _id in rows}
    assert {"conflicts", "alerts", "assembly_feedback", "assembly_flags", "activities", "teams", "jobs"} <= tables
    assert tables & (LINKED_TABLES | SUBJECT_TABLES | NOT_IN_FILE.keys()) == set()
    assert rows["conflicts", str(conflict.id)]["sensitivity"] == "restricted"
    assert ("conflicts", str(spared.id)) not in rows
    assert rows["assembly_flags", str(context.id)]["texts"] == {"note": f"{NAME} complained."}
    assert rows["jobs", str(job.id)]["texts"] == {"arguments": {"of": "zora quell"}}
    assert f"subject:{subject.id}" in {row["texts"].get("target") for row in data["further"]}
    [told] = [one for one in data["contexts"] if one["id"] == str(context.id)]
    assert told["texts"] == [f"Ask {NAME} first."]
    assert f"{NAME} complained." in page
    assert "painter" not in page
    browser = Client()
    browser.force_login(admin)
    assert browser.get(f"/subjects/{subject.id}/files/{file.id}/").status_code == 200
    [reading] = Reading.objects.filter(kind="exported", agent_id=agent.id)
    assert reading.counts == {"memory": 1, "alert": 1, "conflict": 1}


def test_every_table_that_can_name_somebody_is_in_it_or_has_a_reason() -> None:
    searched = {place.table for place in further_places()}
    known = (searched, LINKED_TABLES, SUBJECT_TABLES, NOT_IN_FILE.keys())
    for place in PLACES:
        if place.treatment is not Treatment.UNTOUCHED:
            assert sum(place.table in tables for tables in known) == 1, place.table
    for place in further_places():
        fields = {field.column: field.name for field in model_of(place.table)._meta.concrete_fields}
        assert all(fields[column] == column for column in place.columns), place.table


def test_what_is_not_linked_is_not_in_it(agent: Agent) -> None:
    for text in (f"{NAME} came", f"{NAME} left", f"{NAME} slept"):
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
    subject = scanned_subject()
    first, second, _third = subject.mentions.order_by("id").values_list("id", flat=True)
    mentions_decide(subject=subject, mentions=[first], status=MentionStatus.LINKED, principal=SYSTEM)
    mentions_decide(subject=subject, mentions=[second], status=MentionStatus.DISMISSED, principal=SYSTEM)
    page, data = written(subject)
    assert [thing["texts"]["text"] for thing in data["things"]] == [f"{NAME} came"]
    assert "slept" not in page
    assert "left" not in page


def test_a_large_file_is_written_by_a_job(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    subject = scanned_subject()
    link_all(subject)
    monkeypatch.setattr(export, "MAX_IMMEDIATE_MENTIONS", 0)
    file = subject_file_create(subject=subject, principal=SYSTEM)
    assert (file.finished_at, bytes(SubjectFile.objects.get(id=file.id).content)) == (None, b"")
    job = Job.objects.get(kind="write_subject_file")
    assert job.arguments == {"file": str(file.id)}
    with reading_everything():
        write_subject_file(job, lambda _steps: None)
    _page, data = entries(bytes(SubjectFile.objects.get(id=file.id).content))
    assert len(data["things"]) == 1


def test_files_are_deleted_after_a_day() -> None:
    subject = scanned_subject()
    old, new = (subject_file_create(subject=subject, principal=SYSTEM) for _ in range(2))
    SubjectFile.objects.filter(id=old.id).update(created=timezone.now() - FILE_RETENTION)
    expired_files_delete()
    assert list(SubjectFile.objects.values_list("id", flat=True)) == [new.id]


def test_a_download_is_recorded_as_a_reading_of_what_is_confidential(agent: Agent, admin: User) -> None:
    facts = [(f"{NAME} came", Sensitivity.RESTRICTED), (f"{NAME} left", Sensitivity.INTERNAL)]
    secret, _plain = (
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text, sensitivity=level), principal=SYSTEM)
        for text, level in facts
    )
    subject = scanned_subject()
    link_all(subject)
    file = subject_file_create(subject=subject, principal=SYSTEM)
    browser = Client()
    browser.force_login(admin)
    answer = browser.get(f"/subjects/{subject.id}/files/{file.id}/")
    assert answer.status_code == 200
    assert "Zora" not in answer["Content-Disposition"]
    _page, data = entries(answer.getvalue() if answer.streaming else answer.content)
    assert len(data["things"]) == 2
    reading = Reading.objects.get(kind="exported")
    assert (reading.things, reading.counts, reading.actor) == ([secret.id], {"memory": 1}, admin.principal.ref)
    act = Activity.objects.get(action="export.downloaded")
    assert (act.target, act.detail) == (f"subject:{subject.id}", {"file": str(file.id)})


@pytest.fixture
def unreadable(agent: Agent, settings: Any, tmp_path: Path) -> Subject:
    """A subject named by a memory, and by a frozen one whose file is away."""
    settings.FROZEN_FOLDER = tmp_path
    facts = [MemoryFacts(kind="fact", text=f"{NAME} drinks {what}") for what in ("tea", "milk")]
    frozen, _ = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert things_move(MEMORIES, [frozen.id], Tier.FROZEN) == [frozen.id]
    subject = scanned_subject()
    link_all(subject)
    for file in tmp_path.iterdir():
        file.rename(tmp_path / f"away-{file.name}")
    return subject


def stored_again(folder: Path) -> None:
    for file in folder.iterdir():
        file.rename(folder / file.name.removeprefix("away-"))


SENTENCES = ("was not written", f"“{timezone.now():%Y-%m}.texts” in the folder of frozen texts", "Try again later")


def test_without_a_frozen_text_rest_writes_no_file_and_says_why(unreadable: Subject, admin_api: Api) -> None:
    refused = admin_api.post(f"subjects/{unreadable.id}/files")
    assert problem(refused) == (503, "frozen_text_unreachable")
    assert all(sentence in refused.json()["detail"] for sentence in SENTENCES)
    assert not SubjectFile.objects.exists()


@pytest.mark.usefixtures("_uncollected_static_files")
def test_without_a_frozen_text_the_page_says_why_and_works_again(
    unreadable: Subject, admin: User, tmp_path: Path
) -> None:
    client = Client()
    client.force_login(admin)
    address = f"/subjects/{unreadable.id}/files/"
    page = client.post(address, follow=True)
    assert page.status_code == 200
    assert all(sentence in page.content.decode() for sentence in SENTENCES)
    assert not SubjectFile.objects.exists()
    review = client.get(f"/subjects/{unreadable.id}/?status=linked").content.decode()
    assert f"<mark>{NAME}</mark> drinks milk" in review
    assert UNREADABLE_NOTICE in review
    assert client.get(f"/subjects/{unreadable.id}/erase/").status_code == 200
    stored_again(tmp_path)
    client.post(address)
    assert SubjectFile.objects.get().finished_at


@pytest.mark.usefixtures("_uncollected_static_files")
def test_a_job_waits_for_the_frozen_text(
    unreadable: Subject, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MAX_IMMEDIATE_MENTIONS", 0)
    file = subject_file_create(subject=unreadable, principal=SYSTEM)
    job = Job.objects.get(kind="write_subject_file")
    with reading_everything(), pytest.raises(RetryLater) as failed:
        write_subject_file(job, lambda _steps: None)
    assert all(sentence in str(failed.value) for sentence in SENTENCES)
    Job.objects.filter(id=job.id).update(error=str(failed.value))
    client = Client()
    client.force_login(admin)
    assert "was not written" in client.get(f"/subjects/{unreadable.id}/files/").content.decode()
    file.refresh_from_db()
    assert (file.finished_at, bytes(file.content or b"")) == (None, b"")
    stored_again(tmp_path)
    with reading_everything():
        write_subject_file(job, lambda _steps: None)
    file.refresh_from_db()
    assert file.finished_at
