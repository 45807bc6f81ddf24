"""A worker that is killed during an erasure loses nothing: the erasure is completed at the next start."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from memories.jobs.execution import job_run
from memories.models import Job
from privacy.erasure.erasure_job import ERASE_SUBJECT, resume_erasures
from privacy.models import SubjectErasure
from tests.privacy.erasure.world import Told, begin, damage, files_with, run_all_jobs, stored_files, tables_with

MOMENTS = (
    *("vectors", "things", "unpack", "place:memory_versions", "place:documents", "caches"),
    *("subject", "rewrite:memories", "rewrite:pg_statistic"),
)
RUN_AND_DIE = """
import os, signal, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
settings.KEY_STORE["NAME"] = f"{sys.argv[1]}_keys"
django.setup()
from privacy.erasure import erasure_job as run
noting = run._note
def note(erasure, name, found):
    if name == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)  # its work is done, and not known to be
    noting(erasure, name, found)
run._note = note
from memories.jobs.execution import job_run
job_run(job_id=sys.argv[2])
"""


def kill_at(moment: str, erasure: SubjectErasure) -> None:
    """Run the erasure in a process that is killed as soon as it has done this step."""
    arguments = [connection.settings_dict["NAME"], str(erasure.job_id), moment]
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", RUN_AND_DIE, *arguments], cwd=root, env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL


def complete(told: Told, moment: str) -> None:
    """Kill the erasure at the moment, and see that the next start completes it."""
    erasure = begin(told.subject)
    kill_at(moment, erasure)
    erasure.refresh_from_db()
    assert erasure.state == "running"
    assert moment not in erasure.steps.get("done", [])
    assert erasure.job_id
    job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    assert erasure.state == "finished", Job.objects.get(kind=ERASE_SUBJECT).error
    run_all_jobs()
    assert tables_with("Quell") == {}
    assert files_with("Quell", stored_files()) == []
    assert damage() == []


@pytest.mark.deep
def test_an_erasure_that_was_killed_amid_the_records_is_completed(told: Told) -> None:
    complete(told, "records")


@pytest.mark.deep
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_erasure_that_was_killed_at_any_moment_is_completed(told: Told, moment: str) -> None:
    complete(told, moment)


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
