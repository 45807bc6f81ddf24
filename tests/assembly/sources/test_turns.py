"""Recent turns: the conversation so far, as the request tells it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import ConversationTurn
from tests.assembly.sources.source_factories import ask, gather_context

pytestmark = pytest.mark.django_db


def test_every_turn_comes_in_its_place_without_a_query(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    history = (ConversationTurn("user", "Hello"), ConversationTurn("assistant", "Hi!"), ConversationTurn("tool", "42"))
    with django_assert_num_queries(0):
        gathered = ask("turns", gather_context(agent, history=history))
    assert [(turn.ref, turn.kind, turn.text, turn.position) for turn in gathered.candidates] == [
        ("turn:1", "user", "Hello", 0),
        ("turn:2", "assistant", "Hi!", 1),
        ("turn:3", "tool", "42", 2),
    ]
    assert gathered.limit == 3


def test_a_conversation_that_begins_has_none(agent: Agent) -> None:
    assert ask("turns", gather_context(agent)).candidates == []
