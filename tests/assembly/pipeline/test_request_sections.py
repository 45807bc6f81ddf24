"""What a caller adds itself has a place in contexts of every profile: whole while there is room, and replayed."""

import pytest

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create
from assembly.profiles.shipped import SHIPPED
from assembly.records.reader import load_record, replay
from assembly.sources.base import ConversationTurn
from teams.principal import SYSTEM
from tests.assembly.profiles.test_services import BRIEF

pytestmark = pytest.mark.django_db
TURNS = (ConversationTurn("user", "Where is the ledger?"), ConversationTurn("assistant", "On the quay."))
LONG = "\n\n".join(f"The ledger has a page {number} about the quay." for number in range(200))
BLOCKS = BRIEF + (
    "  - {key: additional_context, heading: Events, layer: L6, source: recent_events, shape: blocks}\n"
    "  - {key: knowledge, heading: Knowledge, layer: L7, source: agent_files, shape: text}\n"
)


def told(agent: Agent, profile: str, **asked: object) -> tuple[Assembly, str]:
    facts: dict[str, object] = {"additional_context": "It rains.", "history": TURNS, **asked}
    found = assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest(profile=profile, **facts))  # type: ignore[arg-type]
    return found.assembly, found.content


@pytest.mark.parametrize("profile", [*SHIPPED, "brief", "blocks"])
def test_every_profile_has_a_place_for_it(profile: str, luna: Agent) -> None:
    profile_create(name="brief", content=BRIEF, principal=SYSTEM)
    profile_create(name="blocks", content=BLOCKS, principal=SYSTEM)
    assembly, content = told(luna, profile)
    heading = '<section name="Additional Context"' if profile in {"coding", "memory"} else "## Additional Context\n"
    for words in (heading, "It rains.", "Where is the ledger?", "On the quay."):
        assert words in content
    assert content.rindex("On the quay.") > content.rindex("It rains."), "turns come last"
    assert replay(load_record(Assembly.objects.get(id=assembly.id))).identical


@pytest.mark.parametrize("profile", SHIPPED)
def test_it_is_whole_while_the_budget_has_room(profile: str, luna: Agent) -> None:
    history = tuple(ConversationTurn("user", f"{number} {LONG[:4_000]}") for number in range(6))
    assembly, content = told(luna, profile, additional_context=LONG, history=history, max_tokens=16_000)
    assert LONG in content
    assert all(turn.content in content for turn in history)
    assert replay(load_record(Assembly.objects.get(id=assembly.id))).identical


def test_it_is_cut_where_the_budget_has_no_room(luna: Agent) -> None:
    assembly, content = told(luna, "conversation", additional_context=LONG, max_tokens=600)
    assert LONG not in content
    assert assembly.tokens <= 600
    assert "You are Luna." in content


def test_without_them_nothing_is_added(luna: Agent) -> None:
    _assembly, content = told(luna, "conversation", additional_context="", history=())
    assert "Additional Context" not in content
    assert "Recent Turns" not in content
