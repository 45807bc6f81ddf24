"""A worker that is killed during an erasure loses nothing: the erasure is completed at the next start."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from assembly.models import RecordErasure
from memories.jobs.execution import job_run
from memories.models import Job
from privacy.erasure.erasure_job import ERASE_SUBJECT, resume_erasures
from privacy.erasure.records import record_parts
from privacy.erasure.sought import Sought
from privacy.models import Subject, SubjectErasure
from tests.privacy.erasure.world import (
    Told,
    begin,
    damage,
    destroyed_keys,
    files_with,
    recorded_texts_with,
    run_all_jobs,
    stored_files,
    tables_with,
)

MOMENTS = (
    *("vectors", "things", "unpack", "place:memory_versions", "place:documents", "caches", "retire_keys"),
    *("amid a batch", "between batches", "records"),
    *("subject", "rewrite:memories", "rewrite:pg_statistic", "keys", "report"),
)
"""A step is done, and not known to be; a batch of records is not committed, or the next one has not begun; the keys are
destroyed, and the report is not sealed.
"""
RUN_AND_DIE = """
import os, signal, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
settings.KEY_STORE["NAME"] = f"{sys.argv[1]}_keys"
django.setup()
from datetime import timedelta
from assembly.records import unused_keys
from privacy.erasure import erasure_job, records
unused_keys.RETIREMENT = timedelta(0)
records.BATCH = 1
calls = 0
def dying(call, at):
    def die(*arguments):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments)
    return die
def note(erasure, name, found, noting=erasure_job._note):
    if name == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    noting(erasure, name, found)
moment = sys.argv[3]
if moment == "between batches":
    records._erase_batch = dying(records._erase_batch, 2)
elif moment == "amid a batch":
    records.erasure_seal = dying(records.erasure_seal, 2)
elif moment == "report":
    erasure_job.report_seal = dying(erasure_job.report_seal, 1)
else:
    erasure_job._note = note
from memories.jobs.execution import job_run
job_run(job_id=sys.argv[2])
"""


def kill_at(moment: str, erasure: SubjectErasure) -> None:
    """Run the erasure in a process that is killed at this moment."""
    arguments = [connection.settings_dict["NAME"], str(erasure.job_id), moment]
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", RUN_AND_DIE, *arguments], cwd=root, env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL


def complete(subject: Subject, moment: str) -> None:
    """Kill the erasure at the moment, and see that the next start completes it."""
    erasure, keys = begin(subject), destroyed_keys()
    items = len(record_parts(Sought.of(erasure)).pieces)
    kill_at(moment, erasure)
    erasure.refresh_from_db()
    assert (erasure.state, erasure.report) == ("running", None)
    assert moment not in erasure.steps.get("done", [])
    batches = RecordErasure.objects.filter(erasure=erasure.id)
    if moment in {"between batches", "amid a batch"}:
        assert batches.count() == 1, "the first batch alone is committed"
    assert erasure.job_id
    job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    assert erasure.state == "finished", Job.objects.get(kind=ERASE_SUBJECT).error
    run_all_jobs()
    assert tables_with("Quell") == {}
    assert recorded_texts_with("Quell") == 0
    assert erasure.report["keys"]["destroyed"] == destroyed_keys() - keys > 0
    pieces, records = [id_ for one in batches for id_ in one.pieces], {id_ for one in batches for id_ in one.assemblies}
    assert (erasure.report["records"]["pieces"], erasure.report["records"]["contexts"]) == (len(pieces), len(records))
    assert len(pieces) == items
    assert damage() == []


@pytest.mark.deep
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_erasure_that_was_killed_at_any_moment_is_completed(told: Told, moment: str) -> None:
    complete(told.subject, moment)
    assert files_with("Quell", stored_files()) == []


def test_an_erasure_that_was_killed_between_two_batches_is_completed(told_twice: Subject) -> None:
    complete(told_twice, "between batches")


def test_an_erasure_whose_job_was_given_up_or_lost_is_queued_again(told: Told) -> None:
    erasure = begin(told.subject)
    Job.objects.filter(kind=ERASE_SUBJECT).update(status="parked")
    resume_erasures()
    assert Job.objects.get(kind=ERASE_SUBJECT).status == "queued"
    Job.objects.filter(kind=ERASE_SUBJECT).delete()
    resume_erasures()
    erasure.refresh_from_db()
    waiting = Job.objects.get(kind=ERASE_SUBJECT)
    assert (waiting.id, waiting.status) == (erasure.job_id, "queued")
