"""Files and daily logs are split into passages by a job after each save, and lose them when they are deleted."""

import datetime
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import QuerySet

from agents.models import Agent
from agents.services import agent_delete, daily_log_append
from assembly.records.change_counters import load_change_counts
from config.db.migration_helpers import ORGANISATION
from memories.embeddings.file_splitting import (
    file_split,
    files_without_passages,
    passages_of_text,
    split_files,
    split_missing,
)
from memories.embeddings.splitting import split_text
from memories.embeddings.wordllama import MODEL_NAME
from memories.jobs.execution import job_run
from memories.models import FilePassage, Job
from teams.models import Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.services import erase, team_delete
from teams.versioned_text.versioned_file import VersionedFile, file_save
from tests.concurrency import at_once

DAY = datetime.date(2026, 3, 1)
TEXT = "".join(f"# Part {number}\n\n{'Green tea wants water of 80 degrees. ' * 20}\n\n" for number in range(3))
GERMAN = "Die Häuser am Hafen wurden verkauft, und nicht das Boot."


def saved(file: Any, content: str) -> Any:
    return file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


def one_of_each(agent: Agent, team: Team) -> dict[str, VersionedFile]:
    return {
        "agent_file": saved(agent.files.get(file_key="KNOWLEDGE"), TEXT),
        "team_file": saved(team.files.get(file_key="GOALS"), TEXT),
        "organisation_file": organisation_file_create(key="tea", title="Tea", content=TEXT, principal=SYSTEM),
        "daily_log": daily_log_append(agent=agent, date=DAY, text=TEXT, principal=SYSTEM),
    }


def splitting() -> QuerySet[Job]:
    return Job.objects.filter(kind="split_files")


def run_jobs() -> None:
    for job in splitting().order_by("id"):
        split_files(job, lambda _: None)


def texts_of(file: Any) -> list[str]:
    return list(FilePassage.objects.filter(file_id=file.id).order_by("position").values_list("text", flat=True))


@pytest.mark.django_db
def test_a_save_starts_a_job_that_splits_the_file(agent: Agent, team: Team) -> None:
    files = one_of_each(agent, team)
    jobs = splitting().order_by("id")
    assert [(job.steps, job.agent) for job in jobs] == [(1, agent), (1, None), (1, None), (1, agent)]
    run_jobs()
    owners = {"agent_file": agent.id, "team_file": team.id, "organisation_file": ORGANISATION, "daily_log": agent.id}
    expected = [piece.text for piece in split_text(path="a.md", language="", text=TEXT)]
    assert len(expected) == 3
    for kind, file in files.items():
        rows = FilePassage.objects.filter(file_kind=kind, file_id=file.id, file_version=file.version)
        assert [row.text for row in rows.order_by("position")] == expected
        assert {row.owner for row in rows} == {owners[kind]}
        assert {row.embedding_model for row in rows} == {MODEL_NAME}
        assert all(TEXT[row.start : row.end] == row.text and row.embedding is not None for row in rows)
        assert rows.get(position=1).ref == f"{kind}:{file.id}@{file.version}#1"


@pytest.mark.django_db
def test_the_next_version_replaces_the_passages_and_a_job_that_runs_twice_leaves_the_same(agent: Agent) -> None:
    file = saved(agent.files.get(file_key="KNOWLEDGE"), TEXT)
    run_jobs()
    file = saved(file, "Coffee.")
    for _ in range(2):
        run_jobs()
        assert texts_of(file) == ["Coffee."]
    assert FilePassage.objects.get().file_version == 3
    file = saved(file, " \n")
    run_jobs()
    assert texts_of(file) == []


@pytest.mark.django_db
def test_saves_while_a_job_waits_start_no_other_job(agent: Agent) -> None:
    for _ in range(3):
        log = daily_log_append(agent=agent, date=DAY, text=TEXT, principal=SYSTEM)
    other = daily_log_append(agent=agent, date=DAY + datetime.timedelta(days=1), text=TEXT, principal=SYSTEM)
    assert splitting().count() == 2
    run_jobs()
    assert {row.file_version for row in FilePassage.objects.filter(file_id=log.id)} == {3}
    assert texts_of(other) == [piece.text for piece in split_text(path="a.md", language="", text=TEXT)]
    splitting().update(status="running")
    daily_log_append(agent=agent, date=DAY, text=TEXT, principal=SYSTEM)
    assert splitting().filter(status="queued").count() == 1


@pytest.mark.django_db
def test_a_new_file_without_text_and_other_versioned_texts_start_no_job(agent: Agent, team: Team) -> None:
    organisation_file_create(key="tea", title="Tea", content=" \n", principal=SYSTEM)
    assert agent.files.count() == team.files.count() == 3
    assert not splitting().exists()


@pytest.mark.django_db
def test_a_file_that_is_gone_counts_as_done(agent: Agent) -> None:
    log = daily_log_append(agent=agent, date=DAY, text=TEXT, principal=SYSTEM)
    erase("daily_logs", log.id, SYSTEM)
    steps: list[int] = []
    split_files(splitting().get(), steps.append)
    assert (steps, FilePassage.objects.count()) == ([1], 0)


@pytest.mark.django_db
def test_passages_of_prose_have_the_language_of_their_text() -> None:
    texts = [GERMAN, "# Tee", "The houses at the harbour were not sold to them."]
    text = "\n\n".join(f"{one}\n" + "~ " * 500 for one in texts)
    languages = [(one.text.split("\n")[0], one.language) for one in passages_of_text(text) if one.text[0] != "~"]
    assert languages == [(texts[0], "german"), (texts[1], "german"), (texts[2], "english")]


@pytest.mark.django_db
def test_what_a_file_had_goes_with_it_and_with_its_owner(agent: Agent, team: Team) -> None:
    files = one_of_each(agent, team)
    run_jobs()
    left = {kind: len(texts_of(file)) for kind, file in files.items()}
    assert left == dict.fromkeys(files, 3)
    erase("daily_logs", files["daily_log"].id, SYSTEM)
    erase("organisation_files", files["organisation_file"].id, SYSTEM)
    assert set(FilePassage.objects.values_list("file_kind", flat=True)) == {"agent_file", "team_file"}
    agent_delete(agent=agent, principal=SYSTEM)
    assert set(FilePassage.objects.values_list("file_kind", flat=True)) == {"team_file"}
    team_delete(team=team, principal=SYSTEM)
    assert not FilePassage.objects.exists()


@pytest.mark.django_db
def test_new_passages_are_counted_for_their_owner(agent: Agent, team: Team) -> None:
    one_of_each(agent, team)
    owners = (agent.id, team.id, ORGANISATION)
    before = load_change_counts(*owners)
    run_jobs()
    after = load_change_counts(*owners)
    assert [count - earlier for count, earlier in zip(after, before, strict=True)] == [2, 1, 1]


@pytest.mark.django_db
def test_files_that_were_never_split_are_split_by_reindex_and_by_the_job_of_the_upgrade(
    agent: Agent, team: Team, capsys: Any
) -> None:
    files = one_of_each(agent, team)
    Job.objects.all().delete()
    call_command("reindex", "--agent", agent.slug)
    assert "files and daily logs: 2 to split" in capsys.readouterr().out
    run_jobs()
    assert set(FilePassage.objects.values_list("file_kind", flat=True)) == {"agent_file", "daily_log"}
    upgrade = Job.objects.create(kind="split_files", steps=2)
    steps: list[int] = []
    split_files(upgrade, steps.append)
    assert steps == [1, 1]
    assert all(len(texts_of(file)) == 3 for file in files.values())
    assert list(files_without_passages(None)) == []
    assert split_missing(agent=None, principal=SYSTEM) is None


@pytest.mark.usefixtures("committed_database")
def test_several_workers_with_one_file_leave_its_passages_once(agent: Agent) -> None:
    file = saved(agent.files.get(file_key="KNOWLEDGE"), "Tea is ready. " * 2_000)
    at_once([partial(file_split, kind="agent_file", id_=file.id)] * 4)
    assert texts_of(file) == [piece.text for piece in split_text(path="a.md", language="", text=file.content)]


@pytest.mark.usefixtures("committed_database")
def test_a_worker_runs_the_job(agent: Agent) -> None:
    file = saved(agent.files.get(file_key="KNOWLEDGE"), TEXT)
    job_run(job_id=splitting().get().id)
    assert len(texts_of(file)) == 3
    assert splitting().get().status == "done"
