"""Additional context: what the caller itself adds."""

import pytest

from agents.models import Agent
from tests.assembly.sources.source_factories import found, gather_context

pytestmark = pytest.mark.django_db


def test_the_callers_text_comes_as_it_was_sent(agent: Agent) -> None:
    [candidate] = found("additional_context", gather_context(agent, additional_context=" Opens at nine.\n"))
    assert (candidate.ref, candidate.text) == ("request:additional_context", " Opens at nine.\n")
    assert candidate.measures["relevance"] == candidate.measures["recency"] == candidate.score == 1.0


def test_without_it_there_is_nothing(agent: Agent) -> None:
    assert not found("additional_context", gather_context(agent))
