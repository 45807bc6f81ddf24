"""A recorded context is kept as a recall test: the items that it included must be included from now on."""

from collections.abc import Sequence

from assembly.engine.refs import Ref
from assembly.engine.types import Decision
from assembly.models import Assembly, RecallTest
from assembly.models.recall_test import MAX_TEST_NAME_CHARACTERS
from assembly.recall_tests.expectations import MAX_EXPECTATIONS, Expectation
from assembly.recall_tests.services import (
    RecallFacts,
    recall_owners_for,
    recall_test_create,
    title_of_item,
    unversioned,
)
from assembly.records.reader import load_record
from assembly.sources.kinds import KINDS
from config.http.errors import Invalid
from teams.principal import Principal

SUGGESTED = 5
"""The number of items that a test made from a context expects, unless the person chooses them."""
SHORT_LIVED = frozenset({"event", "daily_log", "task"})
"""The kinds of items that a test expects only if the person chooses them: other ones take their places tomorrow."""

NOTHING_LASTING = (
    "A test would expect nothing, because this context includes only items that newer ones replace soon, or none. "
    "Select items in the tab “Items” and keep these, or create a recall test with a text that must be in."
)
GONE = (
    "A test would expect nothing, because these items do not exist any more, or are not the agent's or the team's. "
    "Select other items in the tab “Items” and keep these, or create a recall test with a text that must be in."
)


def recall_test_from_context(*, assembly: Assembly, refs: Sequence[str], principal: Principal) -> RecallTest:
    """Create a test with the topic and the profile of a recorded context, whose included items with these refs must be
    included; without refs, the best ranked items of sections that choose by topic, except what is soon replaced by
    newer items: events, daily logs and tasks. The test is as sensitive as the context, and named after the topic.

    Raises NotFound if the agent or the team was deleted, Forbidden, Invalid where no item is left to expect, and what
    `recall_test_create` raises.
    """
    agent, team = recall_owners_for(principal, agent=assembly.agent_slug, team=assembly.team_slug)
    told = load_record(assembly)
    budget = None if assembly.budget == told.inputs.profile.budget else assembly.budget
    included = [decision for decision in told.decisions if decision.included and is_expectable(decision.ref)]
    lasting = [one for one in included if Ref.parse(one.ref).kind not in SHORT_LIVED]
    chosen = [one for one in included if one.ref in refs] if refs else _best(lasting)
    expected = list(dict.fromkeys(unversioned(one.ref) for one in chosen))
    if refs and not 0 < len(expected) <= MAX_EXPECTATIONS:
        raise Invalid("refs", f"Choose 1 to {MAX_EXPECTATIONS} included items that are not part of the request.")
    existing = [ref for ref in expected if title_of_item(ref, agent, team)]
    if not existing:
        raise Invalid("refs", GONE if expected else NOTHING_LASTING)
    facts = RecallFacts(
        name=(assembly.topic.strip() or f"Context of {assembly.agent_name}")[:MAX_TEST_NAME_CHARACTERS],
        topic=assembly.topic,
        profile="" if agent and assembly.profile_name == agent.profile else assembly.profile_name,
        budget=budget,
        expectations=[Expectation("include", ref=ref) for ref in existing],
    )
    return recall_test_create(
        agent=agent, team=team, facts=facts, principal=principal, sensitivity=assembly.sensitivity
    )


def _best(included: Sequence[Decision]) -> list[Decision]:
    """Return the best items that were ranked by the topic; without any, the first included ones."""
    ranked = [one for one in included if one.rank is not None and one.score is not None]
    return sorted(ranked, key=lambda one: -(one.score or 0.0))[:SUGGESTED] or list(included[:SUGGESTED])


def is_expectable(ref: str) -> bool:
    """Return whether tests can name the item: it is of a kind that is stored, not part of the request."""
    return Ref.parse(ref).kind in KINDS
