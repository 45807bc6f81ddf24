"""A scan finds every kind of thing that names a subject, whatever its tier, version or level, and nothing else."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.sources.base import ConversationTurn
from memories.lifecycle.thing_tables import DOCUMENTS, EVENTS
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Document, Event, Job, Memory
from memories.services import MemoryFacts, memory_create, memory_delete, memory_update
from privacy.models import MentionStatus, Subject, SubjectMention, SubjectScan
from privacy.subjects import scan as scanning
from privacy.subjects.scan import subject_scan_create, subjects_rescan
from privacy.subjects.services import Identifier, SubjectFacts, mentions_decide, subject_create
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.drafts import discarded_text_create, draft_save
from teams.versioned_text.versioned_file import file_save
from tests.privacy.subject_factories import (
    FACTS,
    KINDS_OF_AGENT,
    NAME,
    run_scans,
    scanned_subject,
    tell_everything,
)

pytestmark = pytest.mark.django_db


def kinds_of(subject: Subject) -> set[str]:
    return set(SubjectMention.objects.filter(subject=subject).values_list("ref_kind", flat=True))


def remember(owner: Any, text: str) -> Memory:
    return memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)


def test_every_kind_of_thing_is_found_whatever_its_level(agent: Agent, team: Team, owner: User) -> None:
    tell_everything(agent, team, Sensitivity.RESTRICTED)
    organisation_file_create(key="house", title="House", content=f"Ask {NAME}.", principal=SYSTEM)
    about = agent.files.get(file_key="KNOWLEDGE").about
    draft_save(person_id=owner.id, about=about, content=f"{NAME} again", based_on=1, expected_revision=0)
    discarded_text_create(person_id=owner.id, about=about, content=f"{NAME}, no", based_on=1)
    assemble(agent=agent, team=team, asked=AssemblyRequest(topic=f"Who is {NAME}?"), principal=SYSTEM)
    subject = scanned_subject()
    expected = KINDS_OF_AGENT | {"team_file", "organisation_file", "draft", "discarded_text", "context"}
    assert kinds_of(subject) == expected
    owners = SubjectMention.objects.filter(subject=subject, ref_kind="event").values_list("agent_id", "team_id")
    assert set(owners) == {(agent.id, None)}


def test_only_those_who_are_meant_are_found(agent: Agent) -> None:
    for text in ("Zora Quellmann came", "Zoraline Quell came", "zora.quell@example.organic", "+48 171 1234567"):
        remember(agent, text)
    mine = [
        remember(agent, text) for text in ("Z. Quell came", "Quell, Zora", "zora.QUELL@example.org", "0171-1234567")
    ]
    subject = scanned_subject()
    things = dict(SubjectMention.objects.filter(subject=subject).values_list("thing", "spellings"))
    assert things == {
        mine[0].id: ["Z. Quell"],
        mine[1].id: ["Quell, Zora"],
        mine[2].id: ["zora.QUELL@example.org"],
        mine[3].id: ["0171-1234567"],
    }


def test_an_earlier_version_names_them_too(agent: Agent) -> None:
    memory = remember(agent, f"{NAME} drinks tea")
    facts = MemoryFacts(kind="fact", text="A guest drinks tea")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    file = agent.files.get(file_key="KNOWLEDGE")
    file_save(file=file, content=f"{NAME}", expected_version=1, author=SYSTEM.author)
    file_save(file=file, content="Nobody", expected_version=2, author=SYSTEM.author)
    subject = scanned_subject()
    assert kinds_of(subject) == {"memory", "agent_file"}


def test_packed_and_frozen_texts_are_read(agent: Agent, settings: Any, tmp_path: Path) -> None:
    settings.FROZEN_FOLDER = tmp_path
    document = Document.objects.create(agent=agent, path="a.md", content=f"{NAME} was here. " * 20, split_version=1)
    event = Event.objects.create(
        agent=agent, type="message", content={"text": NAME}, size=9, occurred_at=timezone.now()
    )
    assert things_move(DOCUMENTS, [document.id], Tier.COLD) == [document.id]
    assert things_move(EVENTS, [event.id], Tier.FROZEN) == [event.id]
    assert kinds_of(scanned_subject()) == {"document", "event"}


def test_what_contexts_told_leads_to_the_thing_or_to_the_context(agent: Agent, team: Team) -> None:
    kept, gone = remember(agent, f"{NAME} likes tea"), remember(agent, f"{NAME} likes cake")
    asked = AssemblyRequest(topic="What do guests like?", history=(ConversationTurn("user", f"I am {NAME}"),))
    context = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    memory_delete(memory=gone, principal=SYSTEM)
    subject = scanned_subject()
    mentions = {mention.ref_kind: mention for mention in SubjectMention.objects.filter(subject=subject)}
    assert set(mentions) == {"memory", "context"}
    assert mentions["memory"].thing == kept.id
    assert mentions["memory"].contexts == 1
    assert len(mentions["memory"].pieces) == 1
    assert mentions["context"].thing == context.id
    assert Assembly.objects.filter(told__overlap=mentions["memory"].pieces).count() == 1


def test_a_second_scan_keeps_decisions_and_drops_what_is_gone(agent: Agent) -> None:
    linked, dismissed, gone = (remember(agent, f"{NAME} {number}") for number in range(3))
    subject = scanned_subject()
    ids = dict(SubjectMention.objects.filter(subject=subject).values_list("thing", "id"))
    for memory, status in ((linked, MentionStatus.LINKED), (dismissed, MentionStatus.DISMISSED)):
        mentions_decide(subject=subject, mentions=[ids[memory.id]], status=status, principal=SYSTEM)
    memory_delete(memory=gone, principal=SYSTEM)
    subject_scan_create(subject=subject, principal=SYSTEM)
    run_scans()
    now = dict(SubjectMention.objects.filter(subject=subject).values_list("thing", "status"))
    assert now == {linked.id: "linked", dismissed.id: "dismissed"}


def test_a_new_spelling_brings_a_dismissed_thing_back(agent: Agent) -> None:
    memory = remember(agent, "Z. Quell came")
    subject = scanned_subject()
    mention = subject.mentions.get()
    mentions_decide(subject=subject, mentions=[mention.id], status=MentionStatus.DISMISSED, principal=SYSTEM)
    facts = MemoryFacts(kind="fact", text=f"{NAME} came")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    subject_scan_create(subject=subject, principal=SYSTEM)
    run_scans()
    mention.refresh_from_db()
    assert mention.status == MentionStatus.FOUND
    assert mention.spellings == ["Z. Quell", NAME]


def test_changes_are_scanned_daily_and_nothing_else_is_read(agent: Agent) -> None:
    remember(agent, f"{NAME} before")
    subject = scanned_subject()
    later = remember(agent, f"{NAME} later")
    edited = Event.objects.create(
        agent=agent, type="message", content={"text": NAME}, size=9, occurred_at=timezone.now()
    )
    subjects_rescan()
    assert SubjectScan.objects.filter(subject=subject).count() == 1  # it was scanned today
    day_ago = timezone.now() - datetime.timedelta(days=1)
    Subject.objects.filter(id=subject.id).update(scanned_at=day_ago)
    subjects_rescan()
    subjects_rescan()
    scan = SubjectScan.objects.get(subject=subject, finished_at=None)
    assert scan.since is not None
    run_scans()
    scan.refresh_from_db()
    assert scan.found == 2
    assert {later.id, edited.id} <= set(SubjectMention.objects.filter(subject=subject).values_list("thing", flat=True))


def test_a_scan_goes_on_where_it_was_interrupted(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    memories = [remember(agent, f"{NAME} {number}") for number in range(5)]
    monkeypatch.setattr("privacy.subjects.stored_texts.ROWS_PER_BATCH", 2)
    subject = subject_create(facts=FACTS, principal=SYSTEM)
    scan = SubjectScan.objects.get(subject=subject)
    job = Job.objects.get(kind=scanning.FIND_MENTIONS)
    steps = []

    def stop_in_memories(number: int) -> None:
        steps.append(number)
        scan.refresh_from_db()
        if scan.place.get("table") == "memory" and scan.place.get("after"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        scanning.find_mentions(job, stop_in_memories)
    found = set(subject.mentions.values_list("thing", flat=True))
    assert found == {memory.id for memory in memories[:2]}
    read = scan.texts
    scanning.find_mentions(job, lambda _number: None)
    scan.refresh_from_db()
    assert set(subject.mentions.values_list("thing", flat=True)) == {memory.id for memory in memories}
    # Each memory and each of its versions is read once.
    assert scan.texts - read >= 3 + 5
    assert scan.finished_at is not None


def test_the_job_names_the_scan_and_nothing_of_the_person(agent: Agent) -> None:
    subject = subject_create(facts=FACTS, principal=SYSTEM)
    job = Job.objects.get(kind=scanning.FIND_MENTIONS)
    assert set(job.arguments) == {"scan"}
    assert str(subject.scans.get().id) == job.arguments["scan"]


def test_numbers_in_json_are_read(agent: Agent) -> None:
    Event.objects.create(
        agent=agent, type="message", content={"caller": 491711234567, "to": [{"name": "x"}]}, size=9,
        occurred_at=timezone.now(),
    )  # fmt: skip
    facts = SubjectFacts(NAME, "visitor", "", (Identifier("phone", "+49 171 1234567"),))
    assert kinds_of(scanned_subject(facts)) == {"event"}
