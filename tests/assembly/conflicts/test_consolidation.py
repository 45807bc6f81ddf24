"""Memories that say the same are merged by the lifecycle run, and stay separated once a person separated them."""

import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_delete
from assembly.conflicts import consolidation
from assembly.conflicts.consolidation import consolidate_duplicates
from assembly.models import Conflict, ConflictKind
from memories.archive.sections import scope_of_everything
from memories.archive.services import import_begin, import_create
from memories.jobs.services import job_create
from memories.lifecycle import undoing
from memories.lifecycle.hourly_run import LifecycleRun, run_lifecycle
from memories.lifecycle.undoing import lifecycle_undo, undo_lifecycle
from memories.models import LifecycleReport, Memory
from memories.services import MergeRequest, facts_of, memories_merge, memories_unmerge, memory_delete, memory_update
from teams.models import Team, User
from teams.origin import Origin
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import StaleVersion
from tests.archives import zipped
from tests.assembly.conflicts.conflict_factories import conflict_between, remember, run_jobs

pytestmark = pytest.mark.django_db

TEXT = "The support line opens at eight."


def duplicates(left: Memory, right: Memory, **facts: Any) -> Conflict:
    return conflict_between(left, right, **{"kind": ConflictKind.DUPLICATE, "similarity": 0.98} | facts)


def run() -> None:
    consolidate_duplicates(LifecycleRun(timezone.now()))


def test_the_more_credible_one_stays_and_the_report_names_both(agent: Agent) -> None:
    older, newer = remember(agent, TEXT), remember(agent, f"{TEXT} ", credibility=0.9)
    duplicates(older, newer)
    run()
    assert Memory.objects.get(id=older.id).superseded_by_id == newer.id
    report = LifecycleReport.objects.get(step="consolidate")
    assert report.detail == {"merged_into": {f"memory:{older.id}": f"memory:{newer.id}"}}
    run()
    assert LifecycleReport.objects.count() == 1


def test_what_a_person_separated_stays_separated(agent: Agent) -> None:
    older, newer = remember(agent, TEXT), remember(agent, f"{TEXT} ")
    duplicates(older, newer)
    run()
    kept = Memory.objects.get(id=older.id)
    memories_unmerge(memory=kept, expected_version=kept.version, principal=SYSTEM)
    run()
    assert not Memory.objects.exclude(superseded_by=None).exists()


@pytest.mark.parametrize(
    "facts", [{"similarity": 0.96}, {"kind": ConflictKind.NUMBER}, {"model": "tiny-nli@0123456789ab"}]
)
def test_others_are_left_for_a_person(agent: Agent, facts: dict[str, Any]) -> None:
    duplicates(remember(agent, TEXT), remember(agent, f"{TEXT} "), **facts)
    run()
    assert not Memory.objects.exclude(superseded_by=None).exists()


JANUARY, FEBRUARY = (datetime.datetime(2026, month, 1, 12, tzinfo=datetime.UTC) for month in (1, 2))


@pytest.mark.parametrize("moments", [(JANUARY, FEBRUARY), (None, JANUARY), (JANUARY, None)])
def test_what_was_said_of_other_moments_is_not_merged(
    agent: Agent, moments: tuple[datetime.datetime | None, datetime.datetime | None]
) -> None:
    duplicates(*(remember(agent, "The rent was paid.", occurred_at=moment) for moment in moments))
    run()
    assert not Memory.objects.exclude(superseded_by=None).exists()


def test_what_was_said_twice_of_one_moment_is_merged(agent: Agent) -> None:
    duplicates(*(remember(agent, "The rent was paid.", occurred_at=JANUARY) for _ in range(2)))
    run()
    assert Memory.objects.get(superseded_by=None).occurred_at == JANUARY


def test_the_same_words_of_other_days_are_no_duplicate(agent: Agent) -> None:
    for moment in (JANUARY, FEBRUARY):
        remember(agent, "The rent was paid.", occurred_at=moment)
    run_jobs()
    assert not Conflict.objects.exists()


def test_memories_of_different_owners_are_not_merged(agent: Agent, team: Team) -> None:
    duplicates(remember(agent, TEXT), remember(team, f"{TEXT} "))
    run()
    assert not Memory.objects.exclude(superseded_by=None).exists()


def test_pairs_that_cannot_be_merged_are_in_nobodys_way(
    agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidation, "MAX_PAIRS", 1)
    monkeypatch.setattr(consolidation, "MAX_TRIED", 1)
    duplicates(remember(agent, TEXT), remember(team, f"{TEXT} "))
    separated = remember(agent, f"{TEXT}  "), remember(agent, f"{TEXT}   ")
    duplicates(*separated)
    run()
    kept = Memory.objects.get(id=separated[0].id)
    memories_unmerge(memory=kept, expected_version=kept.version, principal=SYSTEM)
    left, right = remember(agent, "Tea at four."), remember(agent, "Tea at four. ")
    duplicates(left, right)
    run()
    assert [*Memory.objects.exclude(superseded_by=None).values_list("id", "superseded_by")] == [(right.id, left.id)]


def test_what_was_merged_before_an_interruption_is_reported(agent: Agent) -> None:
    duplicates(remember(agent, TEXT), remember(agent, f"{TEXT} "))

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    job = job_create(kind="lifecycle", arguments={}, agent=None, principal=SYSTEM)
    with pytest.raises(KeyboardInterrupt):
        consolidate_duplicates(LifecycleRun(job.created, stop, job.id))
    first = LifecycleReport.objects.get(step="consolidate")
    lost = [remember(agent, "Tea at four."), remember(agent, "Tea at four. ")]
    merging = MergeRequest(lost[0].id, {one.id: 1 for one in lost})
    memories_merge(owner=agent, merging=merging, principal=SYSTEM)  # and then the process is killed
    job.attempts = 2
    run_lifecycle(job, lambda _: None)
    found = LifecycleReport.objects.filter(step="consolidate").exclude(id=first.id).get()
    assert found.detail["merged_into"] == {f"memory:{lost[1].id}": f"memory:{lost[0].id}"}
    run_lifecycle(job, lambda _: None)
    assert LifecycleReport.objects.filter(step="consolidate").count() == 2


def test_an_undo_separates_what_a_run_merged(agent: Agent) -> None:
    duplicates(remember(agent, TEXT), remember(agent, f"{TEXT} "))
    run()
    report = LifecycleReport.objects.get(step="consolidate")
    undo_lifecycle(lifecycle_undo(report=report, principal=SYSTEM), lambda _: None)
    assert not Memory.objects.exclude(superseded_by=None).exists()
    assert LifecycleReport.objects.get(step="undo").things == report.things
    run()
    assert not Memory.objects.exclude(superseded_by=None).exists()


def undo(report: LifecycleReport) -> LifecycleReport:
    """The report of the undo of what a run merged."""
    undo_lifecycle(lifecycle_undo(report=report, principal=SYSTEM), lambda _: None)
    return LifecycleReport.objects.get(step="undo", detail__undone=str(report.id))


def test_an_undo_separates_several_from_the_same_memory(agent: Agent) -> None:
    kept, *others = (remember(agent, TEXT + " " * number) for number in range(3))
    for other in others:
        duplicates(kept, other)
    duplicates(*others)
    run()
    report = LifecycleReport.objects.get(step="consolidate")
    assert report.changed == 2
    assert sorted(undo(report).things) == sorted(report.things)
    run()
    assert not Memory.objects.exclude(superseded_by=None).exists()


def test_an_undo_leaves_what_a_person_merged_later(agent: Agent) -> None:
    kept, other = remember(agent, TEXT), remember(agent, f"{TEXT} ")
    duplicates(kept, other)
    run()
    later = remember(agent, "Call at eight.", origin=Origin.TOOL)
    facts = facts_of(later)
    memory_update(memory=later, expected_version=1, facts=facts, superseded_by=None, pinned=True, principal=SYSTEM)
    memories_merge(owner=agent, merging=MergeRequest(kept.id, {kept.id: 2, later.id: 2}), principal=SYSTEM)
    undo(LifecycleReport.objects.get(step="consolidate"))
    assert Memory.objects.get(superseded_by=kept) == later
    left = Memory.objects.get(id=kept.id)
    assert (left.version, left.pinned, left.origin) == (4, True, Origin.TOOL)


def test_an_undo_goes_on_where_one_cannot_be_separated(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, client: Client, admin: User, settings: Any
) -> None:
    pairs = [(remember(agent, text), remember(agent, f"{text} ")) for text in (TEXT, "Tea at four.", "Mind the gap.")]
    for pair in pairs:
        duplicates(*pair)
    run()
    report = LifecycleReport.objects.get(step="consolidate")
    (_, first), (locked, second), (deleted, third) = pairs
    memory_delete(memory=Memory.objects.get(id=deleted.id), principal=SYSTEM)

    def unmerge(**called: Any) -> Memory:
        if called["memory"] == locked:
            raise StaleVersion(called["memory"], 1)
        return memories_unmerge(**called)

    monkeypatch.setattr(undoing, "memories_unmerge", unmerge)
    undone = undo(report)
    assert (undone.things, undone.detail["failed"]) == ([f"memory:{first.id}"], [f"memory:{second.id}"])
    assert Memory.objects.exclude(superseded_by=None).get() == second
    assert Memory.objects.get(id=third.id).stands
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    client.force_login(admin)
    page = client.get(f"/storage/reports/{report.id}/").content.decode()
    assert "1 memory could not be separated" in page


def test_what_was_separated_stays_so_after_an_import(agent: Agent, team: Team, editor: User) -> None:
    for _ in range(2):
        remember(agent, TEXT)
    run_jobs()
    run()
    kept = Memory.objects.get(superseded_by=None)
    memories_unmerge(memory=kept, expected_version=kept.version, principal=editor.principal)
    conflict = Conflict.objects.get()
    assert (conflict.status, conflict.resolution, conflict.resolver_name) == ("resolved", "both", "Edda Editor")
    assert conflict.reason == consolidation.WERE_SEPARATED
    assert conflict.decisions.get().by_ref == editor.principal.ref
    archive = zipped(scope_of_everything(SYSTEM))
    agent_delete(agent=agent, principal=SYSTEM)
    assert not Conflict.objects.exists()
    import_begin(
        plan=import_create(archive=archive, file_name="all.zip", principal=SYSTEM), chosen=(), principal=SYSTEM
    )
    run_jobs()
    run()
    assert Memory.objects.filter(superseded_by=None).count() == 2


def test_a_duplicate_that_was_outdated_meanwhile_is_kept_apart_too(agent: Agent) -> None:
    left, right = remember(agent, TEXT), remember(agent, TEXT)
    run_jobs()
    merging = MergeRequest(left.id, {left.id: 1, right.id: 1}, "The line opens at nine.")
    kept = memories_merge(owner=agent, merging=merging, principal=SYSTEM)
    run_jobs()
    assert Conflict.objects.get().status == "gone"
    memories_unmerge(memory=kept, expected_version=2, principal=SYSTEM)
    run_jobs()
    assert [*Conflict.objects.values_list("status", "resolution", "gone_because")] == [("resolved", "both", "")]


def test_other_conflicts_are_left_to_people_and_an_agent_decides_on_none(agent: Agent) -> None:
    key = Principal(kind="agent_key", agent_id=agent.id)
    for by, kind in ((SYSTEM, ConflictKind.NUMBER), (key, ConflictKind.DUPLICATE)):
        left, right = (remember(agent, TEXT, origin=Origin.AGENT) for _ in range(2))
        conflict = duplicates(left, right, kind=kind)
        merging = MergeRequest(left.id, {left.id: 1, right.id: 1})
        kept = memories_merge(owner=agent, merging=merging, principal=SYSTEM)
        memories_unmerge(memory=kept, expected_version=2, principal=by)
        conflict.refresh_from_db()
        assert conflict.is_open
