"""Searching an owner's memories: which come back, in which order, and by how many queries."""

import datetime
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from agents.models import Agent
from config.db.statements import fetch_rows
from memories.models import Entity, Memory
from memories.search import candidates, memory_search, owner_sample
from memories.search.features import Weights
from memories.search.memory_search import FoundMemory, rows_with_features, search_memories, topic_vector
from memories.search.question import parse_question
from memories.search.row_format import ids_of
from memories.services import MemoryFacts, Owner, memories_create, memory_update
from memories.services.memory import facts_of
from teams.models import Team
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

TODAY = datetime.date(2023, 10, 25)
START = datetime.datetime(2023, 5, 1, 9, tzinfo=datetime.UTC)
WEIGHTS = Weights(
    {"similarity_z": 0.5, "words_z": 0.6, "words_around_z": 0.1, "labelled": 1.0, "date": 3.0, "time_said": 2.0}
)


MARKED = {"labelled", "time_said", "asks", "after_question", "date"}
"""The measures that say what a text is, and not how it compares with others."""


def remember(owner: Owner, *texts: str, **facts: Any) -> list[Memory]:
    """One memory per text, a minute apart."""
    made = [
        MemoryFacts(kind="fact", text=text, occurred_at=START + datetime.timedelta(minutes=number), **facts)
        for number, text in enumerate(texts)
    ]
    return memories_create(owner=owner, facts=made, principal=SYSTEM)


def find(owner: Owner, text: str, limit: int = 20, recent: int = 0) -> list[FoundMemory]:
    question = parse_question(text, topic_vector(text), TODAY)
    return search_memories(owner=owner, question=question, weights=WEIGHTS, limit=limit, recent=recent)


def texts(*args: Any, **options: Any) -> list[str]:
    return [memory.text for memory in find(*args, **options)]


def test_words_find_what_meaning_alone_would_not(agent: Agent) -> None:
    remember(agent, "We talked about tea.", "The code for the shed is QX-17.", "Tea is good with milk.")
    assert texts(agent, "Where does QX-17 belong?", limit=1) == ["The code for the shed is QX-17."]


def test_a_label_says_who_speaks(agent: Agent) -> None:
    remember(agent, "Ben: I like the sea.", "Ada: I like the sea.")
    [first, _] = find(agent, "What does Ada like?")
    assert first.text == "Ada: I like the sea."
    assert first.measures["labelled"] == 1


def test_a_date_in_the_question_finds_that_day(agent: Agent) -> None:
    moments = [START, START + datetime.timedelta(days=40)]
    facts = [MemoryFacts(kind="fact", text="We went sailing.", occurred_at=moment) for moment in moments]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert [memory.occurred_at for memory in find(agent, "Where did we go in June?")] == [moments[1], moments[0]]


def test_who_asks_when_gets_what_says_a_time(agent: Agent) -> None:
    remember(agent, "The boat was sold.", "The boat was sold last week.", "Tea is good.")
    assert texts(agent, "When was the boat sold?", limit=1) == ["The boat was sold last week."]
    assert "time_said" not in find(agent, "Was the boat sold?")[1].measures


def test_an_entity_is_found_under_all_its_names(agent: Agent) -> None:
    Entity.objects.create(agent=agent, type="Service", name="Auth Service", aliases=["Gatekeeper"])
    remember(agent, "Nothing to say.", "The gatekeeper refuses old tokens.", "Tea is ready.")
    [first, *_] = find(agent, "What is wrong with the Auth Service?")
    assert first.text == "The gatekeeper refuses old tokens."
    assert first.measures["words"] > 0


def test_always_as_many_come_back_as_there_are(agent: Agent) -> None:
    remember(agent, *(f"Number {number}." for number in range(30)))
    assert len(find(agent, "zebra", limit=20)) == 20
    assert len(find(agent, "zebra", limit=50)) == 30


def test_the_newest_come_along(agent: Agent) -> None:
    made = remember(agent, *["Tea with milk."] * 5, "Something else.")
    assert made[-1].id in {memory.id for memory in find(agent, "tea milk", limit=2, recent=1)}


def test_the_superseded_come_last(agent: Agent) -> None:
    old, new = remember(agent, "The tea is green.", "Nothing.")
    memory_update(memory=old, expected_version=1, facts=facts_of(old), superseded_by=new, principal=SYSTEM)
    assert [memory.id for memory in find(agent, "Which tea is green?")] == [new.id, old.id]
    assert [memory.id for memory in find(agent, "Which tea is green?", limit=1)] == [new.id]


def test_the_retired_come_last_and_the_pinned_come_always(agent: Agent) -> None:
    old, pin, *_ = remember(agent, "The tea is green.", "Nothing.", *["Green tea."] * 3)
    for memory, change in ((old, {"retired_because": "It is black now."}), (pin, {"pinned": True})):
        memory_update(
            memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, principal=SYSTEM, **change
        )
    found = find(agent, "Which tea is green?", limit=2)
    assert [memory.pinned for memory in found] == [False, False, True]
    last = find(agent, "Which tea is green?")[-1]
    assert (last.id, last.retired_because) == (old.id, "It is black now.")


def test_ties_go_to_the_lower_id(agent: Agent) -> None:
    days = [START + datetime.timedelta(days=number) for number in range(4)]
    facts = [MemoryFacts(kind="fact", text="Tea.", occurred_at=day) for day in days]
    made = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert [memory.id for memory in find(agent, "tea")] == sorted(memory.id for memory in made)


def test_a_team_has_memories_too_and_nobody_elses_come(agent: Agent, team: Team) -> None:
    remember(team, "The team likes tea.")
    remember(agent, "Ada likes tea.")
    assert texts(team, "Who likes tea?") == ["The team likes tea."]


@pytest.mark.parametrize(
    "text",
    [
        "你好 世界", "Привет, мир!", "مرحبا بالعالم", "สวัสดีชาวโลก", "Où est le thé ?", "'; DROP TABLE memories; --",
        "it's a 'quoted' \\ word & | ! <-> :* (", "the of and", "?!", "%s %(text)s", "word " * 3_000, "e\u0301\u0323",
        " ".join(f"distinct{number}" for number in range(300)),
    ],
)  # fmt: skip
def test_any_text_can_be_asked_and_found(agent: Agent, text: str) -> None:
    remember(agent, "Tea.", text, "Milk.")
    found = find(agent, text)
    assert len(found) == 3
    assert all(-20 <= value <= 20 for memory in found for value in memory.measures.values())


def test_texts_of_other_languages_are_found_by_their_words(agent: Agent) -> None:
    remember(agent, "Der Schlüssel liegt unter der Matte.", "Das Brot ist im Ofen.", "Wir fahren morgen los.")
    assert texts(agent, "Wo liegt der Schlüssel?", limit=1) == ["Der Schlüssel liegt unter der Matte."]


def test_an_owner_without_memories_has_none(agent: Agent) -> None:
    assert find(agent, "tea", recent=5) == []


def test_three_queries_search_an_owner(agent: Agent, django_assert_num_queries: Any) -> None:
    remember(agent, *(f"Number {number}." for number in range(30)))
    with django_assert_num_queries(3):
        find(agent, "number 7")


class TestOfVeryMany:
    """An owner with more memories than are measured whole."""

    @pytest.fixture(autouse=True, params=[(0, 0), (10**9, 0), (0, 10**9)], ids=["index", "sorting", "large table"])
    def few_are_many(self, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
        visit, rows_in_table = request.param
        monkeypatch.setattr(candidates, "MAX_NEIGHBOURHOODS", visit)
        monkeypatch.setattr(candidates, "EXACT_ROWS", 10)
        monkeypatch.setattr(candidates, "NEWEST", 10)
        of = owner_sample.read_sample
        monkeypatch.setattr(
            memory_search, "read_sample", lambda *given: replace(of(*given), rows_in_table=rows_in_table)
        )

    @pytest.fixture
    def memories(self, agent: Agent) -> list[Memory]:
        return remember(agent, "Ada: The code for the shed is QX-17.", "Ben: Thanks!", *["We talked about tea."] * 300)

    @pytest.mark.usefixtures("memories")
    def test_old_ones_are_found_by_their_words_with_their_neighbours(self, agent: Agent) -> None:
        found = find(agent, "What is QX-17?", limit=300)
        by_text = {memory.text: memory for memory in found}
        assert found[0].text == "Ada: The code for the shed is QX-17."
        assert by_text["Ben: Thanks!"].measures["words_around_z"] > 0

    @pytest.mark.usefixtures("memories")
    def test_statements_after_the_search_are_planned_as_before(self, agent: Agent) -> None:
        with transaction.atomic():
            find(agent, "What is QX-17?", limit=300)
            assert fetch_rows("SHOW plan_cache_mode") == [("auto",)]

    @pytest.mark.usefixtures("memories")
    def test_old_ones_are_found_by_their_meaning(self, agent: Agent) -> None:
        assert texts(agent, "Much gratitude, thank you", limit=1) == ["Ben: Thanks!"]

    @pytest.mark.usefixtures("memories")
    def test_old_ones_are_found_by_their_day(self, agent: Agent) -> None:
        moments = [START - datetime.timedelta(days=40 + number) for number in range(2)]
        facts = [MemoryFacts(kind="fact", text="Sunny and warm.", occurred_at=moment) for moment in moments]
        memories_create(owner=agent, facts=facts, principal=SYSTEM)
        [first, *_] = find(agent, "zebra on 21 March 2023", limit=1)
        assert first.occurred_at == moments[1]

    @pytest.mark.usefixtures("memories")
    def test_the_pinned_come_along(self, agent: Agent, few_are_many: None) -> None:
        pin, *_ = remember(agent, "Nothing.", *(f"The tea of day {number} is green." for number in range(60)))
        memory_update(
            memory=pin, expected_version=1, facts=facts_of(pin), superseded_by=None, pinned=True, principal=SYSTEM
        )
        assert pin.id in {memory.id for memory in find(agent, "green tea", limit=3)}

    def test_those_that_come_are_measured_as_if_all_were(self, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
        found = find(agent, "What is QX-17 for?", limit=2)
        monkeypatch.setattr(candidates, "EXACT_ROWS", 1_000)
        assert found == find(agent, "What is QX-17 for?", limit=2)

    def test_always_as_many_come_back_as_there_are(self, agent: Agent, memories: list[Memory]) -> None:
        for text in ("zebra", "?!", "tea"):
            assert len(find(agent, text, limit=250)) == 250
            assert len(find(agent, text, limit=1_000)) == len(memories)

    @pytest.mark.parametrize(
        "question", ["When did Ada say where the code for the shed is?", "What is the code for, and whose is QX-17?"]
    )
    def test_of_those_that_come_nothing_was_passed_over(
        self, agent: Agent, monkeypatch: pytest.MonkeyPatch, question: str
    ) -> None:
        """Labels, questions and frequent words are looked for in good rows only."""
        remember(
            agent, *["Ben: The code is long."] * 12, "Ben: Where is the code for QX-17?", "Ada: It is Ada's since May."
        )
        monkeypatch.setattr(owner_sample, "ROWS", 8)
        found = find(agent, question, limit=13)
        monkeypatch.setattr(candidates, "EXACT_ROWS", 1_000)
        exact = {memory.id: MARKED & memory.measures.keys() for memory in find(agent, question)}
        assert len(found) == 13
        assert all(MARKED & memory.measures.keys() == exact[memory.id] for memory in found)
        assert any("labelled" in memory.measures for memory in found) == ("Ada" in question)
        assert any("asks" in memory.measures for memory in found)

    def test_neighbours_of_one_moment_are_those_with_the_next_ids(
        self, agent: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        facts = [MemoryFacts(kind="fact", text="We talked about tea.", occurred_at=START) for _ in range(80)]
        facts[40] = MemoryFacts(kind="fact", text="The code for the shed is QX-17.", occurred_at=START)
        made = memories_create(owner=agent, facts=facts, principal=SYSTEM)
        found = {memory.id: memory.measures for memory in find(agent, "What is QX-17?", limit=100)}
        by_id = sorted(memory.id for memory in made)
        after = by_id[by_id.index(made[40].id) + 1]
        assert found[made[40].id]["words"] > 0
        assert found[after]["words_around_z"] > 0
        assert sum(measures["words_around_z"] > 0 for measures in found.values()) == 3

    @pytest.mark.usefixtures("memories")
    @pytest.mark.parametrize(
        "text", ["it's a 'quoted' \\ word & | ! {a,b} \"c\" NULL", "你好 世界", "the of", "https://a.b/c|d?e='f'"]
    )
    def test_any_text_can_be_asked_and_found(self, agent: Agent, text: str) -> None:
        remember(agent, text)
        assert text in texts(agent, text, limit=5, recent=10)

    @pytest.mark.usefixtures("memories")
    def test_an_entity_is_found_under_all_its_names(self, agent: Agent) -> None:
        Entity.objects.create(agent=agent, type="Service", name="We", aliases=["Gatekeeper Two", "O'Brien"])
        remember(agent, "The gatekeeper two refuses old tokens.", "O'Brien is late.")
        found = {
            memory.text: memory.measures["words"]
            for memory in find(agent, "Do we?", limit=4)
            if "words" in memory.measures
        }
        assert found.keys() == {"The gatekeeper two refuses old tokens.", "O'Brien is late."}

    @pytest.mark.usefixtures("memories")
    def test_a_row_with_several_rare_words_has_them_all(self, agent: Agent) -> None:
        [first] = find(agent, "Code QX-17, shed", limit=1)
        assert first.measures["words"] == 1

    @pytest.mark.usefixtures("memories")
    def test_where_there_are_more_with_a_word_than_were_sampled_nothing_is_passed_over(
        self, agent: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        find(agent, "QX-17")  # the sample is kept: what comes now, it does not know
        text = "Ben: Is QX-17 the code for the shed?"
        ids = {memory.id for memory in remember(agent, *[text] * 40)}
        monkeypatch.setattr(candidates, "REACH", candidates.SearchReach(worded=10, max_term_match_rows=10, nearest=20))
        monkeypatch.setattr(candidates, "BEHIND", 1)
        question = parse_question(text, topic_vector(text), TODAY)
        rows, measured = rows_with_features(agent, question, least=5, weights=WEIGHTS)
        those = [place for place, id_ in enumerate(ids_of(rows)) if id_ in ids]
        assert len(those) > 10
        assert measured["words"][those].min() == measured["labelled"][those].min() == 1

    @pytest.mark.usefixtures("memories")
    def test_five_queries_search_them_and_four_the_next_time(
        self, agent: Agent, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(5):
            find(agent, "What is QX-17?")
        with django_assert_num_queries(4):
            find(agent, "What is tea?")
