"""A backup from before an erasure is restored: the person is gone again, and nothing else has changed."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client

from agents.models import Agent
from config.keys.store_connections import close_pool, run_in_store
from memories.models import Job, Memory
from memories.services import MemoryFacts, memory_create
from privacy.erasure.ledger import lost_erasures
from privacy.erasure.repetition import check_erasures, erasures_repeat, repeat_lost_erasures
from privacy.models import Subject, SubjectErasure
from teams.activity.models import Activity
from teams.models import User
from teams.principal import SYSTEM
from tests.client import Api
from tests.postgres import cloned_database, connected_to, keys_of, leave
from tests.privacy.erasure.world import damage, erase, follow_all, run_all_jobs, tables_with
from tests.privacy.subject_factories import NAME, link_all, scanned_subject

NUMBER = "+49 171 1234567"
ROWS_SQL = "SELECT id::text, text FROM memories ORDER BY id"


@contextmanager
def keys_in(name: str) -> Iterator[None]:
    """Use this key store, as somebody does who restores the data and not the keys."""
    assert settings.KEY_STORE
    before = settings.KEY_STORE["NAME"]
    close_pool()
    settings.KEY_STORE["NAME"] = name
    try:
        yield
    finally:
        close_pool()
        settings.KEY_STORE["NAME"] = before


@pytest.fixture
def subject(committed_database: str, agent: Agent) -> Subject:
    """A person whom two memories name, beside one of somebody else of that name, and one about nobody."""
    for text in (f"{NAME} likes tea.", f"Call {NUMBER}.", "Tea is hot.", f"The ship {NAME} sails at nine."):
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
    run_all_jobs()
    subject = scanned_subject()
    link_all(subject)
    ship = Memory.objects.get(text__contains="ship")
    subject.mentions.filter(thing=ship.id).update(status="dismissed")
    run_all_jobs()
    follow_all()
    return subject


@pytest.fixture
def restored(committed_database: str, subject: Subject) -> Iterator[SubjectErasure]:
    """The person is erased; then the database is as it was before, with the key store as it is now."""
    leave(committed_database)
    with cloned_database(committed_database) as backup:
        erasure = erase(subject)
        run_all_jobs()
        assert tables_with("Zora Quell") == {"memories": 1, "memory_versions": 1}
        with connected_to(backup), keys_in(keys_of(committed_database)):
            yield erasure


def repeat() -> str:
    out = io.StringIO()
    call_command("repeat_erasures", stdout=out)
    return out.getvalue()


def rows() -> dict[str, str]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(ROWS_SQL)
        return dict(cursor.fetchall())


def test_the_person_is_gone_again_and_nothing_else_changed(restored: SubjectErasure) -> None:
    before = rows()
    assert sum(NAME in text or NUMBER in text for text in before.values()) == 3
    assert not SubjectErasure.objects.exists()
    assert [one.id for one in check_erasures()] == ["privacy.E001"]
    said = repeat()
    assert said == "Erasure 1 repeats erasure 1 and is finished.\n"
    run_all_jobs()
    kept = {id_: text for id_, text in before.items() if text.startswith(("Tea", "The ship"))}
    assert rows() == kept
    assert tables_with("1234567") == {}
    [repeated] = SubjectErasure.objects.all()
    assert (repeated.id, repeated.subject_id, repeated.state) == (restored.id, restored.subject_id, "finished")
    assert repeated.report["repeats"]["number"] == restored.number
    assert Subject.objects.get().name == "[erased]"
    assert damage() == []
    assert check_erasures() == []
    assert repeat() == "No completed erasure is missing.\n"
    assert Activity.objects.filter(action="subject.erased", detail__repeats=1).count() == 1


def test_a_worker_repeats_it_once_at_its_start_and_pages_say_so(
    restored: SubjectErasure, admin: User, admin_api: Api
) -> None:
    staff = Client()
    staff.force_login(admin)
    assert "1 completed erasure is not in this database." in staff.get("/erasures/").content.decode()
    assert admin_api.get(f"erasures/{restored.id}").status_code == 404
    repeat_lost_erasures()
    repeat_lost_erasures()
    [job] = Job.objects.filter(kind="erase_subject", status="queued")
    assert SubjectErasure.objects.get().job_id == job.id
    assert [one.id for one in check_erasures()] == ["privacy.W001"]
    run_all_jobs()
    assert SubjectErasure.objects.get().state == "finished"
    assert NAME not in "".join(text for text in rows().values() if "ship" not in text)
    assert "is not in this database" not in staff.get("/erasures/").content.decode()
    page = staff.get(f"/erasures/{restored.id}/").content.decode()
    assert "an older state of the database was restored" in page
    assert admin_api.get(f"erasures/{restored.id}").json()["repeats"]["number"] == 1


RUN_AND_DIE = """
import os, signal, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
settings.KEY_STORE["NAME"] = sys.argv[2]
django.setup()
from privacy.erasure import erasure_job as run
noting = run._note
def note(erasure, name, found):
    if name == "place:memory_versions":
        os.kill(os.getpid(), signal.SIGKILL)
    noting(erasure, name, found)
run._note = note
from django.core.management import call_command
call_command("repeat_erasures")
"""


@pytest.mark.deep
def test_a_repetition_that_was_killed_is_completed(restored: SubjectErasure) -> None:
    assert settings.KEY_STORE
    arguments = [connections["default"].settings_dict["NAME"], settings.KEY_STORE["NAME"]]
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", RUN_AND_DIE, *arguments], cwd=root, env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert SubjectErasure.objects.get().state == "running"
    assert "is finished" in repeat()
    assert lost_erasures() == []
    assert damage() == []


def test_an_entry_tells_nobody_whom_it_is_about_and_is_forgotten_with_its_key(restored: SubjectErasure) -> None:
    (stored,) = run_in_store(("SELECT sealed FROM erasure_ledger", {}))
    ((sealed,),) = stored
    for word in (NAME, NUMBER, str(restored.subject_id), "spellings"):
        assert word.encode() not in bytes(sealed)
    with pytest.raises(CommandError, match="1 completed erasures are not in this database"):
        call_command("repeat_erasures", check=True)
    out = io.StringIO()
    call_command("repeat_erasures", forget_before="2020-01-01", stdout=out)
    assert "0 entries" in out.getvalue()
    (keys,) = run_in_store((LIVE_KEY_SQL, KEY))
    assert keys == [(1,)]
    call_command("repeat_erasures", forget_before="2999-01-01", stdout=out)
    assert "1 entries" in out.getvalue()
    (keys,) = run_in_store((LIVE_KEY_SQL, KEY))
    assert keys == [(0,)]
    assert erasures_repeat() == []
    with pytest.raises(CommandError, match="is no date"):
        call_command("repeat_erasures", forget_before="tomorrow")


LIVE_KEY_SQL = "SELECT count(*) FROM data_keys WHERE substr(id, 1, 8) = %(prefix)s AND wrapped IS NOT NULL"
KEY: dict[str, Any] = {"prefix": b"erasure:"}


def test_without_a_key_store_nothing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without:
        without.setattr(settings, "KEY_STORE", None)
        assert lost_erasures() == []
        with pytest.raises(CommandError, match="There is no key store"):
            call_command("repeat_erasures")
