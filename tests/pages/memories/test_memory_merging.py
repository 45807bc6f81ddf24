"""Memories that say the same: found, merged into one, and separated again."""

import pytest

from agents.models import Agent
from memories.models import Memory, MemoryVersion
from memories.services import MemoryFacts, facts_of, memories_create, memory_update
from teams.models import User
from tests.pages.conftest import SignedIn, text_of

MERGE = "/agents/luna/memories/merge/"


@pytest.fixture
def alike(agent: Agent, owner: User) -> list[Memory]:
    """Two that say the same, the second of them pinned; and one that says something else."""
    texts = (
        "The tour starts at the ferry stage, not at the chapel steps.",
        "Tours start at the ferry stage and not at the chapel steps.",
        "Mara likes short answers.",
    )
    facts = [MemoryFacts(kind="fact", text=text) for text in texts]
    memories = memories_create(owner=agent, facts=facts, principal=owner.principal)
    memories[1] = memory_update(
        memory=memories[1], expected_version=1, facts=facts[1], superseded_by=None, pinned=True,
        principal=owner.principal,
    )  # fmt: skip
    return memories


def chosen(*memories: Memory) -> str:
    return f"{MERGE}?{'&'.join(f'memory={memory.id}' for memory in memories)}"


def filled(*memories: Memory, text: str = "") -> dict[str, str]:
    seen = " ".join(f"{memory.id}@{memory.version}" for memory in memories)
    return {"keep": str(memories[0].id), "text": text, "seen": seen}


def test_what_seems_to_say_the_same_is_proposed(signed_in: SignedIn, editor: User, alike: list[Memory]) -> None:
    response = signed_in(editor).get(MERGE)
    assert [{pair.one, pair.other} for pair in response.context["pairs"]] == [set(alike[:2])]


def test_only_what_holds_is_proposed(signed_in: SignedIn, editor: User, owner: User, alike: list[Memory]) -> None:
    memory_update(
        memory=alike[0], expected_version=1, facts=facts_of(alike[0]), superseded_by=None, retired_because="No.",
        principal=owner.principal,
    )  # fmt: skip
    page = signed_in(editor).get(MERGE)
    assert page.context["pairs"] == []
    assert alike[0] not in page.context["found"]


def test_only_those_who_may_write_merge(
    signed_in: SignedIn, teammate: User, outsider: User, alike: list[Memory]
) -> None:
    for person, answer in ((teammate, 403), (outsider, 404)):
        assert signed_in(person).get(MERGE).status_code == answer
        assert signed_in(person).post(chosen(*alike[:2]), filled(*alike[:2])).status_code == answer
    assert not Memory.objects.exclude(superseded_by=None).exists()


def test_one_stays_and_takes_the_pin_and_all_can_be_undone(
    signed_in: SignedIn, editor: User, alike: list[Memory]
) -> None:
    one, other, _ = alike
    browser = signed_in(editor)
    response = browser.post(chosen(one, other), filled(one, other, text="Tours start at the ferry stage."), follow=True)
    assert "this memory supersedes 1 other" in text_of(response)
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.text, one.pinned, one.version) == ("Tours start at the ferry stage.", True, 2)
    assert (other.superseded_by, other.pinned) == (one, False)
    undone = text_of(browser.post(f"/memories/{one.id}/separate/", {"version": 2}, follow=True))
    assert "Restored: all memories are active again." in undone
    one.refresh_from_db()
    other.refresh_from_db()
    assert one.text == "The tour starts at the ferry stage, not at the chapel steps."
    assert (other.superseded_by, other.stands) == (None, True)
    assert "Restore them" not in undone
    assert "Nothing was merged" in text_of(browser.post(f"/memories/{one.id}/separate/", {"version": 3}, follow=True))


def test_what_was_pinned_before_is_pinned_after_undoing(signed_in: SignedIn, editor: User, alike: list[Memory]) -> None:
    one, other, _ = alike
    browser = signed_in(editor)
    browser.post(chosen(one, other), filled(one, other))
    browser.post(f"/memories/{one.id}/separate/", {"version": 2})
    assert set(Memory.objects.filter(pinned=True)) == {other}


def test_what_was_written_since_stays_when_undoing(signed_in: SignedIn, editor: User, alike: list[Memory]) -> None:
    one, other, _ = alike
    browser = signed_in(editor)
    browser.post(chosen(one, other), filled(one, other, text="Merged."))
    one.refresh_from_db()
    memory_update(
        memory=one, expected_version=2, facts=MemoryFacts(kind="fact", text="Later."), superseded_by=None,
        principal=editor.principal,
    )  # fmt: skip
    browser.post(f"/memories/{one.id}/separate/", {"version": 3})
    one.refresh_from_db()
    assert one.text == "Later."


def test_where_one_was_changed_meanwhile_nothing_is_merged_and_nothing_lost(
    signed_in: SignedIn, editor: User, owner: User, alike: list[Memory]
) -> None:
    one, other, _ = alike
    sent = filled(one, other, text="What I typed.")
    changed = MemoryFacts(kind="fact", text="Changed meanwhile.")
    memory_update(memory=one, expected_version=1, facts=changed, superseded_by=None, principal=owner.principal)
    browser = signed_in(editor)
    response = browser.post(chosen(one, other), sent)
    assert response.status_code == 412
    page = text_of(response)
    assert "Someone changed one of them meanwhile." in page
    assert "Changed meanwhile." in page
    assert "What I typed.</textarea>" in page
    again = {**sent, "seen": response.context["form"]["seen"].value()}
    assert browser.post(chosen(one, other), again).status_code == 302
    assert MemoryVersion.objects.get(file=one, version=3).merged == [other.id]


@pytest.mark.parametrize("query", ["?memory=nonsense&memory=1", "?memory=", "?q=%00", "?q=tour"])
def test_strange_choices_do_no_harm(query: str, signed_in: SignedIn, editor: User, alike: list[Memory]) -> None:
    assert signed_in(editor).get(MERGE + query).status_code == 200


@pytest.mark.parametrize("seen", ["", "nonsense", "a@b", "1@2@3"])
def test_a_form_that_was_tampered_with_is_refused(
    seen: str, signed_in: SignedIn, editor: User, alike: list[Memory]
) -> None:
    sent = {**filled(*alike[:2]), "seen": seen}
    assert signed_in(editor).post(chosen(*alike[:2]), sent).status_code == 422
