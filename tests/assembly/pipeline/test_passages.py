"""Long memories in a context: told by the passage that bears on the topic, on record, and the same in a replay."""

import pytest

from agents.models import Agent
from assembly.engine.codes import Code
from assembly.engine.overflow import PASSAGE_TOKENS
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW

pytestmark = pytest.mark.django_db

TOPIC = "Which cable does the turbine need?"
ANSWER = "The turbine needs the red cable, and no other, since the winter of the great storm."


def page(place: int) -> str:
    around = " ".join(
        f"Minute {place}-{line}: the meeting went on about rooms, lunches and holidays." for line in range(40)
    )
    return f"{around} {ANSWER} {around}"


@pytest.fixture
def remembering(luna: Agent) -> Agent:
    facts = [MemoryFacts(kind="fact", text=page(place), external_id=f"p{place}") for place in range(4)]
    memories_create(owner=luna, facts=facts, principal=SYSTEM)
    return luna


def test_a_section_holds_the_passages_of_memories_that_have_no_room_whole(remembering: Agent) -> None:
    asked = AssemblyRequest(topic=TOPIC, profile="coding", now=NOW)
    answer = assemble(agent=remembering, principal=SYSTEM, asked=asked)
    told = load_record(Assembly.objects.get(id=answer.assembly.id))
    mine = [one for one in told.decisions if one.section == "personal_memories" and one.included]
    passages = [one for one in mine if one.code is Code.COMPACTED]
    assert len(passages) >= 3
    assert all(ANSWER in answer.content[one.start : one.end] for one in passages)
    assert all(one.tokens < one.tokens_full / 2 for one in passages[1:])
    again = replay(told)
    assert (again.identical, again.content) == (True, answer.content)


def test_the_profile_conversation_tells_memories_whole_or_cut_as_it_always_did(remembering: Agent) -> None:
    answer = assemble(agent=remembering, principal=SYSTEM, asked=AssemblyRequest(topic=TOPIC, now=NOW))
    told = load_record(Assembly.objects.get(id=answer.assembly.id))
    codes = {one.code for one in told.decisions if one.section == "personal_memories"}
    assert Code.COMPACTED not in codes
    assert codes & {Code.FITS, Code.TRUNCATED}
    assert max(one.tokens for one in told.decisions if one.section == "personal_memories") > PASSAGE_TOKENS
