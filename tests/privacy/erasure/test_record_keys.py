"""An erasure is finished when the keys of what it deleted are gone, and says how many there were, and until when."""

import json
from datetime import timedelta
from unittest import mock

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.models import Piece, RecordErasure, StoredText, UnusedKey
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records import unused_keys
from config.keys import store
from memories.jobs.execution import job_run
from memories.models import Job
from memories.services import MemoryFacts, memory_create
from privacy.erasure.ledger import entry_read
from privacy.models import SubjectErasure
from teams.models import User
from teams.principal import SYSTEM
from tests.client import Api
from tests.privacy.erasure.world import begin, damage, destroyed_keys, follow_all, recorded_texts_with, run_all_jobs
from tests.privacy.subject_factories import NAME, link_all, scanned_subject

RETIREMENT = timedelta(minutes=10)


@pytest.fixture
def waiting(committed_database: str, agent: Agent) -> tuple[SubjectErasure, StoredText, Piece]:
    """An erasure that has only to wait for its keys, while a request runs that had one of them: its text and item."""
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} likes tea."), principal=SYSTEM)
    run_all_jobs()
    for topic in ("hot drinks", f"What does {NAME} like?"):
        assemble(agent=agent, asked=AssemblyRequest(topic=topic, entities=(NAME,)), principal=SYSTEM)
    follow_all()
    [item] = Piece.objects.filter(ref__startswith="memory:")
    text = StoredText.objects.get(sha256=item.text_sha256)
    subject = scanned_subject()
    link_all(subject)
    erasure = begin(subject)
    assert erasure.job_id
    with mock.patch.object(unused_keys, "RETIREMENT", RETIREMENT):
        job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    return erasure, text, item


def test_it_says_when_keys_are_destroyed_and_is_finished_then(
    waiting: tuple[SubjectErasure, StoredText, Piece], admin: User, admin_api: Api, client: Client
) -> None:
    erasure, _text, _item = waiting
    assert erasure.state == "running"
    assert erasure.keys_due
    assert timedelta(minutes=9) < erasure.keys_due - timezone.now() <= RETIREMENT
    assert recorded_texts_with(NAME) == 0, "only the keys are there"
    listed = {bytes(key) for key in UnusedKey.objects.values_list("key", flat=True)}
    unused_keys.unused_keys_destroy(timezone.now() + 2 * RETIREMENT)
    assert not store.is_destroyed(listed), "the hourly run leaves them to the erasure"
    assert entry_read(erasure.id), "a backup that is restored now is erased again"
    job = Job.objects.get(id=erasure.job_id)
    assert job.status == "queued"
    assert job.leased_until
    assert abs(job.leased_until - erasure.keys_due) < timedelta(seconds=30)
    client.force_login(admin)
    address = f"/erasures/{erasure.id}/"
    assert f"destroyed at {erasure.keys_due:%Y-%m-%d %H:%M}" in " ".join(client.get(address).content.decode().split())
    told = json.loads(admin_api.get(f"erasures/{erasure.id}").content)
    assert (told["state"], told["completed_at"], told["report"]) == ("running", None, None)
    assert told["keys_due_at"] == erasure.keys_due.isoformat().replace("+00:00", "Z")
    before = destroyed_keys()
    job_run(job_id=job.id)
    erasure.refresh_from_db()
    assert (erasure.state, erasure.keys_due) == ("finished", None)
    assert store.is_destroyed(listed).keys() == listed
    assert erasure.report["keys"]["destroyed"] == len(listed) == destroyed_keys() - before
    assert json.loads(RecordErasure.objects.exclude(report="").get().report)["keys"] == erasure.report["keys"]
    assert erasure.report["keys"]["places"] == {"stored_texts": 1, "assemblies": 2}
    assert "3: 1 of recorded texts, 2 of contexts" in client.get(address).content.decode()
    assert damage() == []


def test_a_text_that_a_running_request_stores_again_is_erased_as_well(
    waiting: tuple[SubjectErasure, StoredText, Piece],
) -> None:
    erasure, text, item = waiting
    StoredText.objects.bulk_create([text])
    Piece.objects.bulk_create([item])
    assert recorded_texts_with(NAME) == 1
    assert erasure.job_id
    job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    assert erasure.state == "finished", Job.objects.get(id=erasure.job_id).error
    assert erasure.report["rounds"] == 2
    assert not Piece.objects.filter(id=item.id).exists()
    store.forget_keys()
    assert recorded_texts_with(NAME) == 0
    assert bytes(item.text_sha256) in store.is_destroyed([bytes(item.text_sha256)])
    assert damage() == []
