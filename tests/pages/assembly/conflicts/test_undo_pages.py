"""Pages say truthfully what became of the memory that an undone decision had changed."""

import pytest
from django.test import Client

from agents.models import Agent
from assembly.conflicts.services import conflict_resolve
from assembly.models import Conflict
from memories.models import Memory
from memories.services import facts_of, memory_update
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember
from tests.pages.conftest import SignedIn, text_of

WHY = "The memory was archived or superseded anew since, so it is not restored."


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


@pytest.fixture
def conflict(agent: Agent, editor: User) -> Conflict:
    """A conflict that was decided, and whose losing memory somebody archived since."""
    conflict = conflict_between(remember(agent, EIGHTY), remember(agent, NINETY))
    conflict_resolve(conflict=conflict, choice="left", principal=editor.principal)
    memory = Memory.objects.get(id=conflict.right_item)
    memory_update(
        memory=memory, expected_version=2, facts=facts_of(memory), superseded_by=None, retired_because="wrong",
        principal=SYSTEM,
    )  # fmt: skip
    return conflict


def test_the_page_says_what_became_of_the_memory(browser: Client, conflict: Conflict) -> None:
    page = text_of(browser.post(f"/conflicts/{conflict.id}/undo/", follow=True))
    assert f"The decision is undone. {WHY}" in page
    assert "as they were before" not in page
    assert page.count(WHY) == 2, "in the list of decisions, too"


def test_many_undone_at_once_say_how_many_memories_are_not_restored(browser: Client, conflict: Conflict) -> None:
    page = text_of(browser.post("/conflicts/selected/", {"action": "undo", "pick": str(conflict.id)}, follow=True))
    assert "1 memory was changed since and is not restored." in page
