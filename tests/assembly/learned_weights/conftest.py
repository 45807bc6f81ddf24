"""An agent with contexts of which the credible memories were used."""

from collections.abc import Iterator

import pytest

from agents.models import Agent
from assembly.learned_weights import recorded_items
from assembly.models import Assembly
from tests.assembly.learned_weights.world import contexts_made, feedback_given, profile_made, remember, trusted_refs

CONTEXTS = 80


def contexts_with_feedback(agent: Agent) -> Iterator[list[Assembly]]:
    """Contexts of the profile `newest`, all with feedback; about half of them are held out, so never fewer than 20."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorded_items, "HELD_OUT_ONE_IN", 2)
        profile_made()
        remember(agent)
        made = contexts_made(agent, CONTEXTS)
        feedback_given(made, trusted_refs(agent))
        yield made
