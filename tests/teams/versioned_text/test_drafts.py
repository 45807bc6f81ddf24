"""Drafts as windows save them at the same moment: one is kept, the others are told, and none overwrites another."""

from functools import partial

import pytest

from teams.models import Team, TeamFile, User
from teams.versioned_text.drafts import Draft, StaleDraft, TextSetAside, draft_discard, draft_publish, draft_save
from teams.versioned_text.versioned_file import FileTooLarge, StaleVersion, VersionedFile, file_save
from tests.concurrency import at_once

ABOUT = "team_file:some"
WINDOWS = 8


def save(person: User, content: str, expected: int) -> int | None:
    """From a window: the new revision, or None where it was told of the draft as it went on elsewhere."""
    try:
        return draft_save(
            person_id=person.id, about=ABOUT, content=content, based_on=1, expected_revision=expected
        ).revision
    except StaleDraft as stale:
        return None if stale.current else -1


@pytest.mark.usefixtures("committed_database")
def test_of_windows_that_save_at_once_one_is_kept(owner: User) -> None:
    begun = at_once([partial(save, owner, f"window {n}", 0) for n in range(WINDOWS)])
    assert sum(revision is not None for revision in begun) == 1
    first = Draft.objects.get()
    assert begun[int(first.content.removeprefix("window "))] == first.revision
    went_on = at_once([partial(save, owner, f"then {n}", first.revision) for n in range(WINDOWS)])
    assert sum(revision is not None for revision in went_on) == 1
    assert went_on[int(Draft.objects.get().content.removeprefix("then "))] == first.revision + 1


@pytest.mark.django_db
def test_publishing_against_a_newer_version_keeps_the_draft(owner: User, team: Team) -> None:
    file = TeamFile.objects.get(team=team, file_key="GOALS")
    draft = draft_save(person_id=owner.id, about=file.about, content="Mine", based_on=1, expected_revision=0)
    file_save(file=file, content="Theirs", expected_version=1, author=owner.principal.author)

    def store(content: str, expected: int) -> VersionedFile:
        return file_save(file=file, content=content, expected_version=expected, author=owner.principal.author)

    with pytest.raises(StaleVersion):
        draft_publish(person_id=owner.id, about=file.about, expected_revision=draft.revision, save=store)
    with pytest.raises(StaleDraft):
        draft_publish(person_id=owner.id, about=file.about, expected_revision=draft.revision + 1, save=store)
    assert Draft.objects.get().content == "Mine"


@pytest.mark.django_db
def test_a_text_that_replaces_another_sets_it_aside(owner: User) -> None:
    mine = partial(draft_save, person_id=owner.id, about=ABOUT)
    first = mine(content="Mine", based_on=1, expected_revision=0)
    merged = mine(content="Merged", based_on=2, expected_revision=first.revision)
    mine(content="Merged, and corrected", based_on=2, expected_revision=merged.revision)
    assert TextSetAside.objects.get().content == "Mine"


@pytest.mark.django_db
def test_nothing_is_set_aside_of_an_empty_draft(owner: User) -> None:
    draft_save(person_id=owner.id, about=ABOUT, content=" \n", based_on=1, expected_revision=0)
    draft_discard(person_id=owner.id, about=ABOUT)
    assert not TextSetAside.objects.exists()
    assert not Draft.objects.exists()


@pytest.mark.django_db
def test_a_draft_is_no_longer_than_a_file(owner: User) -> None:
    with pytest.raises(FileTooLarge):
        draft_save(person_id=owner.id, about=ABOUT, content="x" * 1_000_001, based_on=1, expected_revision=0)
