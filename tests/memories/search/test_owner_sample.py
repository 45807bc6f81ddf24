"""What a sample tells of an owner's rows, and how long it is kept."""

import datetime
import random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from agents.models import Agent
from config.caching.process_cache import ProcessCache
from memories.models import Entity, Memory
from memories.search import candidates, owner_sample
from memories.search.owner_sample import OwnerSample, cached_sample, read_sample
from memories.search.question import parse_question, read_terms
from memories.search.row_format import OwnerSearch
from memories.search.term_statistics import sampled_statistics
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity

pytestmark = pytest.mark.django_db

TODAY = datetime.date(2023, 10, 25)
START = datetime.datetime(2023, 5, 1, 9, tzinfo=datetime.UTC)
WORDS = [
    "tea",
    "milk",
    "o'clock",
    "https://example.org/a_b",
    "naïve",
    "C:\\\\temp",
    "QX-17",
    "ünïcode",
    "it's",
    "Auth Service",
]
ASKED = " ".join([*WORDS, "unknown", "the"])
NAMES = [("Auth Service", ["Gatekeeper"]), ("QX-17", []), ("Nobody", ["No one"])]


def remember(agent: Agent, *texts: str) -> None:
    facts = [
        MemoryFacts(kind="fact", text=text, occurred_at=START + datetime.timedelta(days=number))
        for number, text in enumerate(texts)
    ]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)


def sampled(agent: Agent) -> OwnerSample:
    return read_sample("agent_id", agent.pk, table=0, clearance=Sensitivity.RESTRICTED)


def searched(agent: Agent, text: str) -> OwnerSearch:
    question = parse_question(text, None, TODAY)
    terms, _, _ = read_terms(question, "agent_id", agent.pk, most=0)
    return OwnerSearch("agent_id", agent.pk, question, terms)


@pytest.fixture
def memories(agent: Agent) -> None:
    """300, each of which has one to four of the words."""
    chance = random.Random(5)
    remember(agent, *(" and ".join(chance.sample(WORDS, chance.randint(1, 4))) for _ in range(300)))


@pytest.mark.usefixtures("memories")
def test_words_are_counted_as_the_database_finds_them(agent: Agent) -> None:
    search = searched(agent, ASKED)
    sample = sampled(agent)
    for term, having in zip(search.terms.all, sampled_statistics(sample, search).having, strict=True):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM memories WHERE search @@ %s::tsquery", [term])
            assert having == pytest.approx(cursor.fetchone()[0] * sample.owned / 300), term


@pytest.mark.usefixtures("memories")
def test_an_entity_is_as_frequent_as_its_commonest_name(agent: Agent) -> None:
    for name, aliases in NAMES:
        Entity.objects.create(agent=agent, type="Thing", name=name, aliases=aliases)
    remember(agent, *["The gatekeeper is late."] * 7, *["Nobody knows."] * 5)
    search = searched(agent, "auth service qx-17 nobody")
    sample = sampled(agent)
    counted = dict(zip(search.terms.all, sample.having(search.terms) * len(sample.rows) / sample.owned, strict=True))
    [auth, nobody, qx] = sorted(search.terms.entities)
    assert round(counted[auth]) == Memory.objects.filter(text__contains="Auth Service").count() > 7
    assert round(counted[nobody]) == 5
    assert round(counted[qx]) == Memory.objects.filter(text__contains="QX-17").count()


@pytest.mark.usefixtures("memories")
def test_a_part_tells_about_how_many_there_are_and_when(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_sample, "ROWS", 100)
    sample = sampled(agent)
    assert len(sample.rows) == 100
    assert sample.owned == pytest.approx(300, rel=0.4)  # four standard deviations
    rarity = sampled_statistics(sample, searched(agent, "and in May 2023"))
    assert rarity.rows == sample.owned
    assert rarity.dated == pytest.approx(31 / 300, abs=0.13)
    (having,) = sample.having(searched(agent, "tea").terms)
    assert having == pytest.approx(Memory.objects.filter(text__contains="tea").count(), rel=0.7)


def test_of_long_memories_fewer_are_read(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_sample, "BYTES", 20_000)
    remember(agent, *["tea " * 250] * 60)
    sample = sampled(agent)
    assert len(sample.rows) == 20
    assert sample.having(searched(agent, "tea").terms) == pytest.approx([sample.owned])


def test_memories_without_a_word_have_none(agent: Agent) -> None:
    remember(agent, "?!", "...", "the of")
    assert sampled(agent).having(searched(agent, "tea").terms).tolist() == [0]


class TestHowLongItIsKept:
    @pytest.fixture(autouse=True)
    def one_memory(self, agent: Agent) -> None:
        remember(agent, "tea")

    def test_it_is_read_once(self, agent: Agent, django_assert_num_queries: Any) -> None:
        first = sampled(agent)
        with django_assert_num_queries(0):
            assert read_sample("agent_id", agent.pk, first.table, Sensitivity.RESTRICTED) is first

    def test_what_comes_later_is_known_when_its_time_is_over(
        self, agent: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = [0.0]
        cache = ProcessCache[UUID, OwnerSample](
            "samples",
            owner_sample.MAX_CACHE_BYTES,
            owner_sample._memory_bytes,
            lifetime=lambda _: owner_sample.LIFETIME_SECONDS,
            timer=lambda: now[0],
        )
        monkeypatch.setattr(owner_sample, "_cache", cache)
        first = sampled(agent)
        remember(agent, *["milk"] * 50)
        now[0] = owner_sample.LIFETIME_SECONDS - 1
        assert cached_sample(agent.pk, Sensitivity.RESTRICTED) is first
        now[0] += 1
        assert cached_sample(agent.pk, Sensitivity.RESTRICTED) is None
        assert len(sampled(agent).rows) == 51

    def test_that_of_another_table_tells_nothing(self, agent: Agent) -> None:
        first = sampled(agent)
        assert read_sample("agent_id", agent.pk, first.table + 1, Sensitivity.RESTRICTED) is not first

    def test_each_owner_has_one_of_its_own(self, agent: Agent) -> None:
        other = Agent.objects.create(slug="other", name="Other")
        remember(other, "milk", "milk")
        assert [len(sampled(owner).rows) for owner in (agent, other)] == [1, 2]

    def test_who_wants_more_than_that_surely_are_is_told_the_truth(self, agent: Agent) -> None:
        remember(agent, *["milk"] * 20)
        table = sampled(agent).table
        question = parse_question("milk", None, TODAY)
        assert [read_terms(question, "agent_id", agent.pk, most, 0)[1] for most in (20, 21)] == [True, False]
        assert read_terms(question, "agent_id", agent.pk, candidates.EXACT_ROWS, table)[1]
