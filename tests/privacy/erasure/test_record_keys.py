"""An erasure is finished when the keys of what it deleted are gone, and says how many there were, and until when."""

import json
from datetime import timedelta
from unittest import mock

import pytest
from django.test import Client
from django.utils import timezone

from assembly.models import Piece, RecordErasure, StoredText, UnusedKey
from assembly.records import unused_keys
from config.keys import store
from memories.jobs.execution import job_run
from memories.models import Job
from privacy.erasure.ledger import entry_read
from privacy.models import Subject, SubjectErasure
from teams.models import User
from tests.client import Api
from tests.privacy.erasure.world import begin, damage, destroyed_keys, recorded_texts_with
from tests.privacy.subject_factories import NAME

RETIREMENT = timedelta(minutes=10)


@pytest.fixture
def waiting(told_twice: Subject) -> tuple[SubjectErasure, StoredText, Piece]:
    """An erasure that has only to wait for its keys, while a request runs that had one of them: its text and item."""
    [item] = Piece.objects.filter(ref__startswith="memory:")
    text = StoredText.objects.get(sha256=item.text_sha256)
    erasure = begin(told_twice)
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
    job = Job.objects.get(kind="erase_subject")
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
    assert erasure.state == "finished"
    assert not SubjectErasure.objects.exclude(keys_due=None).exists()
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
