"""A job that compares items goes on when one of them fails, and others do not wait for those that failed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents.models import Agent
from assembly.conflicts import counts, find
from assembly.conflicts.find import FIND_CONFLICTS, item_conflicts_find, noted_conflicts_find
from assembly.conflicts.uncompared_items import note_items
from assembly.models import Conflict, UncomparedItem
from memories.jobs.services import JobStopped, RetryLater
from memories.models import Job, Memory
from memories.services import facts_of, memories_create, memory_update
from memories.services.memory import MemoryFacts
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, remember, run_jobs

pytestmark = pytest.mark.django_db
TEA = "Tea is served at noon."
Fail = Callable[..., None]


@pytest.fixture
def agent(agent: Agent) -> Agent:
    UncomparedItem.objects.all().delete()  # its files
    return agent


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Return a function that makes the comparison of these memories, or of all items, fail from now on."""

    def let_fail(*memories: Memory, error: Exception | None = None) -> None:
        ids = {memory.id for memory in memories}

        def find_or_fail(*, id_: UUID, **item: Any) -> list[Conflict]:
            if not ids or id_ in ids:
                raise error or RuntimeError("the embedder is down")
            return item_conflicts_find(id_=id_, **item)

        monkeypatch.setattr(find, "item_conflicts_find", find_or_fail)

    return let_fail


def queued() -> Job:
    noted_conflicts_find()
    return Job.objects.get(kind=FIND_CONFLICTS, status="queued")


def end(job: Job, **values: Any) -> None:
    Job.objects.filter(id=job.id).update(**{"status": "done", **values})


def compare(job: Job) -> None:
    find.find_conflicts(job, lambda _: None)


def items_of(job: Job) -> list[UUID]:
    return [UUID(id_) for _, id_ in job.arguments["items"]]


@pytest.mark.parametrize("place", range(3))
def test_an_item_that_fails_holds_up_no_other(
    agent: Agent, editor: User, fail: Fail, place: int, caplog: pytest.LogCaptureFixture
) -> None:
    memory = remember(agent, TEA)
    others = [["memory", str(remember(agent, text).id)] for text in (EIGHTY, NINETY)]
    job = queued()
    others.insert(place, ["memory", str(memory.id)])
    job.arguments["items"] = others
    fail(memory)
    compare(job)
    end(job)
    assert Conflict.objects.count() == 1
    assert str(memory.id) in caplog.text
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
    again = queued()
    assert (items_of(again), again.steps) == ([memory.id], 1)
    with pytest.raises(RetryLater, match=r"Items not compared: 1.*RuntimeError: the embedder is down"):
        compare(again)


def test_others_do_not_wait_for_a_job_that_is_tried_again_later(agent: Agent, fail: Fail) -> None:
    fail(remember(agent, TEA))
    failed = queued()
    with pytest.raises(RetryLater) as raised:
        compare(failed)
    assert raised.value.pause > timedelta(minutes=1)
    end(failed, status="queued", attempts=1)
    remember(agent, EIGHTY)
    noted_conflicts_find()
    job = Job.objects.get(kind=FIND_CONFLICTS, attempts=0)
    noted_conflicts_find()
    remember(agent, NINETY)
    noted_conflicts_find()
    assert Job.objects.filter(kind=FIND_CONFLICTS).count() == 2, "the new job is one to wait for"
    compare(job)
    end(job)
    end(failed, status="running", attempts=2)
    noted_conflicts_find()
    assert UncomparedItem.objects.count() == 1, "so is one that runs again"


def test_a_job_that_has_to_stop_stops(agent: Agent, fail: Fail) -> None:
    remember(agent, TEA)
    fail(error=JobStopped())
    with pytest.raises(JobStopped):
        compare(queued())


def import_parcels(agent: Agent, number: int = 60) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Parcel {n} weighs something.") for n in range(number)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)


def edit(memory: Memory, text: str) -> None:
    facts = replace(facts_of(memory), text=text)
    memory_update(memory=memory, expected_version=memory.version, facts=facts, superseded_by=None, principal=SYSTEM)


@pytest.mark.parametrize("during", [False, True])
def test_an_edit_is_compared_before_an_import(agent: Agent, during: bool) -> None:
    memory = remember(agent, EIGHTY)
    run_jobs()
    import_parcels(agent)
    edit(memory, NINETY)
    if during:
        import_parcels(agent)
    first, *_ = items_of(queued())
    assert first == memory.id


def test_an_edited_file_is_compared_before_an_import(agent: Agent, team: Team) -> None:
    file = team.files.get(file_key="CONTEXT")
    run_jobs()
    import_parcels(agent)
    file_save(file=file, content=NINETY, expected_version=file.version, author=SYSTEM.author)
    import_parcels(agent)
    first, *_ = items_of(queued())
    assert first == file.id


def test_an_edit_stays_first_if_it_is_noted_again(agent: Agent) -> None:
    memory = remember(agent, EIGHTY)
    import_parcels(agent)
    edit(memory, NINETY)
    note_items("memory", [memory.id], timezone.now() - timedelta(days=1))
    first, *_ = items_of(queued())
    assert first == memory.id


def test_each_job_compares_the_item_that_waits_longest(agent: Agent) -> None:
    oldest = remember(agent, TEA)
    for _ in range(2):
        import_parcels(agent, find.ITEMS_PER_JOB)
    items = items_of(queued())
    assert len(items) == find.ITEMS_PER_JOB
    assert items[1] == oldest.id
    assert not UncomparedItem.objects.filter(item__in=items).exists()
    rest = UncomparedItem.objects.order_by("-noted", "-item").values_list("item", flat=True)
    assert items[0] > items[2] > items[-1] > rest[0], "the others, from the latest on"


def told_by(*options: str) -> str:
    out = StringIO()
    call_command("find_conflicts", *options, stdout=out)
    return out.getvalue()


def test_the_command_notes_all_texts_behind_others(agent: Agent) -> None:
    memory = remember(agent, EIGHTY)
    run_jobs()
    import_parcels(agent)
    total, waiting = told_by().splitlines()
    assert not Job.objects.filter(kind=FIND_CONFLICTS, status="queued").exists()
    count = UncomparedItem.objects.count()
    assert total == f"{count} items: workers compare them, after what is saved meanwhile."
    assert waiting == f"{count} items wait to be compared."
    new = remember(agent, NINETY)
    first, longest, *others = items_of(queued())
    assert first == new.id, "saved afterwards"
    imported = set(Memory.objects.filter(text__startswith="Parcel").values_list("id", flat=True))
    assert longest not in imported
    assert imported.issuperset(others), "noted already, so they keep their place"
    assert UncomparedItem.objects.filter(item=memory.id).exists() or longest == memory.id
    assert told_by("--status") == f"{UncomparedItem.objects.count()} items wait to be compared.\n"


def test_a_job_leaves_to_others_what_it_has_no_time_for(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    now, compared = [1_000.0], list[UUID]()

    def find_slowly(*, id_: UUID, **_: Any) -> list[Conflict]:
        compared.append(id_)
        now[0] += 120
        return []

    edited = remember(agent, EIGHTY)
    run_jobs()
    import_parcels(agent, 10)
    monkeypatch.setattr(find, "monotonic", lambda: now[0])
    monkeypatch.setattr(find, "item_conflicts_find", find_slowly)
    job = queued()
    items = items_of(job)
    edit(edited, NINETY)
    new = remember(agent, TEA)
    compare(job)
    end(job)
    assert compared == items[:2], "the latest one, and the one that waits longest"
    again = queued()
    assert items_of(again) == [edited.id, items[-1], new.id, *items[2:-1]], "each has its place in the queue again"
    compare(again)
    end(again)
    assert compared[2:] == [edited.id, items[-1]]
    now[0] -= 1_000_000
    monkeypatch.setattr(find, "JOB_SECONDS", 1_000_000)
    compare(queued())
    assert sorted(compared) == sorted([*items, edited.id, new.id])
    assert not UncomparedItem.objects.exists()


def test_a_job_that_does_not_tell_when_its_items_were_noted_notes_them_first(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_parcels(agent, 3)
    job = queued()
    job.arguments = {"items": job.arguments["items"]}
    monkeypatch.setattr(find, "JOB_SECONDS", -1)
    remember(agent, TEA)
    compare(job)
    end(job)
    assert items_of(queued())[0] == items_of(job)[-1]


def test_the_menu_counts_at_once_and_then_every_few_seconds(
    agent: Agent, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, counted = [1_000.0], list[int]()
    for text in (EIGHTY, NINETY):
        remember(agent, text)
    import_parcels(agent, 8)
    monkeypatch.setattr(counts, "monotonic", lambda: now[0])
    monkeypatch.setattr(counts, "recount_for_owners", lambda items: counted.append(len(items)))
    monkeypatch.setattr(find, "item_conflicts_find", lambda **_: [Conflict()])

    def advance(steps: int) -> None:
        now[0] += 2 * steps

    find.find_conflicts(queued(), advance)
    assert counted == [1, 3, 3, 3], "after 0, 6, 12 and 18 seconds"


def test_the_menu_counts_while_the_job_runs(agent: Agent, editor: User) -> None:
    counted = list[int]()
    for text in (EIGHTY, NINETY, TEA):
        remember(agent, text)

    def advance(_: int) -> None:
        editor.refresh_from_db()
        counted.append(editor.open_conflicts)

    find.find_conflicts(queued(), advance)
    assert 1 in counted, "before the job ends"


def test_another_attempt_counts_what_a_killed_worker_found(agent: Agent, editor: User) -> None:
    for text in (EIGHTY, NINETY):
        remember(agent, text)
    job = queued()
    compare(job)
    User.objects.update(open_conflicts=0)  # as if the worker had died before it counted
    compare(job)
    editor.refresh_from_db()
    assert editor.open_conflicts == 0, "nothing changed"
    job.attempts = 2
    compare(job)
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
    User.objects.update(open_conflicts=0)
    job.attempts, job.error = 1, "The worker died."  # a person tries it again
    compare(job)
    editor.refresh_from_db()
    assert editor.open_conflicts == 1


@pytest.mark.parametrize("error", [RuntimeError("the database restarts"), JobStopped()])
def test_what_an_item_stored_before_it_failed_is_counted(
    agent: Agent, editor: User, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    for text in (EIGHTY, NINETY):
        remember(agent, text)
    job = queued()

    def find_and_fail(**item: Any) -> list[Conflict]:
        item_conflicts_find(**item)
        raise error

    monkeypatch.setattr(find, "item_conflicts_find", find_and_fail)
    with pytest.raises((RetryLater, JobStopped)):
        compare(job)
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
