"""Relevant content by a ranker: passages measured as memories are, a document in the place of a day."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.engine.linear_ranker import Ranker, block_shares, relevance_of, score_of
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.profiles.rankers import RANKERS
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, RequestFilters, SourceResult
from memories.embeddings.indexing import document_split
from memories.embeddings.wordllama import embed
from memories.models import Chunk, Document
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import chunk, document, gather_context, stranger

pytestmark = pytest.mark.django_db

TOPIC = "Which animal did the cat hunt?"
CAT, INVOICE = "The kitten chased a mouse.", "The invoice was paid late."
FILLER = [f"Paragraph {number} is about the weather." for number in range(8)]


def section(ranker: str | Ranker | None, key: str = "content") -> Section:
    found = RANKERS[ranker] if isinstance(ranker, str) else ranker
    return Section(key, "Relevant Content", "L6", "semantic_content", "blocks", ranker=found)


def gathered(wanted: GatherContext, *sections: Section) -> SourceResult:
    return SOURCES["semantic_content"].gather(wanted, sections)


def ranked(agent: Agent, ranker: str | Ranker, topic: str = TOPIC, **facts: Any) -> list[Candidate]:
    return list(gathered(gather_context(agent, topic, **facts), section(ranker)).candidates)


def written(agent: Agent, path: str, *texts: str) -> Document:
    made = document(agent, path)
    for position, text in enumerate(texts):
        chunk(made, text, position)
    return made


def test_a_passage_carries_what_was_measured_and_its_score_from_0_to_1(agent: Agent) -> None:
    written(agent, "notes.md", INVOICE, CAT, *FILLER)
    ranker = RANKERS["default"]
    [best, *others] = ranked(agent, ranker)
    assert best.text == f"notes.md:11\n{CAT}"
    assert {"similarity_z", "similarity_with_previous_z", "relative_length", "brevity"} <= best.measures.keys()
    assert best.score == best.measures["relevance"] == relevance_of(score_of(block_shares(ranker, best)))
    assert all(0 <= (one.score or 0) <= (best.score or 0) < 1 for one in others)
    assert best.measures["recency"] == pytest.approx(0.1353, rel=1e-3)
    assert best.occurred_at is not None
    assert best.occurred_at < NOW


def test_dates_labels_and_questions_of_time_are_nothing_to_a_passage(agent: Agent) -> None:
    written(agent, "notes.md", "Ada: It was last May, on the 7th.", "When was it sold?", *FILLER)
    [best, *_] = ranked(agent, "default", "When was it in May of Ada?")
    assert not {"date", "near_date", "labelled", "time_said", "asks", "after_question"} & best.measures.keys()


def test_words_find_what_meaning_does_not(agent: Agent) -> None:
    made = written(agent, "signs.md", *FILLER, "ERR-7741 means that the disk is full.")
    Chunk.objects.filter(document=made, position=8).update(embedding=None)
    [best, *_] = ranked(agent, "words", "ERR-7741")
    assert (best.similarity, best.ref) == (None, f"chunk:{made.id}@1#8")


def test_what_stands_around_speaks_for_a_passage_within_one_document_alone(agent: Agent) -> None:
    here = written(agent, "boats.md", "The trawler is moored at Tromsø.", "Its engine was changed.", *FILLER)
    other = written(agent, "cars.md", "Its engine was changed.", *FILLER)
    order = [one.ref for one in ranked(agent, "default", "the trawler at Tromsø")]
    assert order.index(f"chunk:{here.id}@1#1") < order.index(f"chunk:{other.id}@1#0")


def test_chunks_of_documents_written_in_turns_stand_in_their_own_order(agent: Agent) -> None:
    one, two = document(agent, "one.md"), document(agent, "two.md")
    for position, text in [(2, "Nothing."), (0, "The trawler is moored at Tromsø."), (1, "It is red.")]:
        chunk(one, text, position)
        chunk(two, FILLER[position], position)
    by_ref = {candidate.ref: candidate.measures for candidate in ranked(agent, "default", "trawler Tromsø")}
    around = {position: by_ref[f"chunk:{one.id}@1#{position}"]["words_around_z"] for position in range(3)}
    assert around[0] >= around[1] > around[2]
    assert by_ref[f"chunk:{two.id}@1#1"]["words_around_z"] == around[2]


def test_the_rankers_put_first_what_they_are_named_for(agent: Agent) -> None:
    made = written(agent, "notes.md", CAT, "Hunt for the invoice of the animal shelter.", *FILLER)
    near = Chunk.objects.get(document=made, position=0)
    vector = embed([CAT])[0]
    firsts = {name: ranked(agent, name, "animal hunt", vector=vector)[0].ref for name in ("similarity", "words")}
    assert firsts == {"similarity": near.ref, "words": f"chunk:{made.id}@1#1"}


def test_each_section_has_what_its_own_ranker_finds(agent: Agent) -> None:
    written(agent, "notes.md", CAT, "Hunt for the invoice of the animal shelter.", *FILLER)
    wanted = gather_context(agent, "animal hunt", vector=embed([CAT])[0])
    found = gathered(wanted, section(None, "seed"), section("words", "words"), section("words", "again"))
    by_section: dict[str, list[Candidate]] = {}
    for candidate in found.candidates:
        by_section.setdefault(candidate.section, []).append(candidate)
    assert found.limit == 60
    assert "boosts" in by_section["seed"][0].measures
    assert "boosts" not in by_section["words"][0].measures
    assert [one.ref for one in by_section["words"]] == [one.ref for one in by_section["again"]]


def test_without_a_topic_those_of_the_documents_changed_last_come_as_by_the_formula(agent: Agent) -> None:
    document_of_today = document(agent, "new.md", hours_ago=1)
    chunk(document_of_today, INVOICE)
    written(agent, "old.md", CAT)
    by_ranker = gathered(gather_context(agent), section("default")).candidates
    assert by_ranker == gathered(gather_context(agent), section(None)).candidates
    assert by_ranker[0].ref == f"chunk:{document_of_today.id}@1#0"


def test_a_topic_whose_meaning_nobody_knows_is_searched_by_its_words(agent: Agent) -> None:
    made = written(agent, "signs.md", *FILLER, "zxqv means that the disk is full.")
    assert ranked(agent, "default", "zxqv", vector=None)[0].ref == f"chunk:{made.id}@1#8"


def test_twenty_come_and_more_where_some_are_excluded(agent: Agent) -> None:
    made = written(agent, "notes.md", *(f"{CAT} {position}" for position in range(25)))
    assert len(ranked(agent, "default")) == 20
    filters = RequestFilters(exclude=(f"chunk:{made.id}@1#0", f"chunk:{made.id}@1#1"))
    found = gathered(gather_context(agent, TOPIC, filters=filters), section("default"))
    assert len(found.candidates) == found.limit == 22


def test_equal_ones_have_one_order(agent: Agent) -> None:
    made = document(agent, "notes.md")
    chunks = [chunk(made, CAT, 10 * position) for position in range(5)]
    refs = [candidate.ref for candidate in ranked(agent, "similarity")]
    assert refs == [same.ref for same in chunks]


def test_content_of_others_is_never_considered(agent: Agent) -> None:
    written(stranger(), "secret.md", CAT)
    assert ranked(agent, "default") == []


@pytest.mark.parametrize(("ranker", "queries"), [("default", 3), ("words", 3)])
def test_it_takes_three_queries(
    agent: Agent,
    ranker: str,
    queries: int,
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    for number in range(5):
        written(agent, f"{number}.md", CAT, *FILLER)
    wanted = gather_context(agent, TOPIC)
    with django_assert_num_queries(queries):
        assert gathered(wanted, section(ranker)).candidates


def test_passages_of_prose_are_found_by_the_words_of_their_language_and_code_by_english_ones(agent: Agent) -> None:
    made = document(agent, "notizen.md", content="Die Häuser am Hafen wurden verkauft, und nicht das Boot.")
    code = document(agent, "haus.py", content="# Die Häuser am Hafen wurden verkauft, und nicht das Boot.\n")
    for one in (made, code):
        document_split(id_=one.id)
    languages = Chunk.objects.values_list("document__path", "language")
    assert dict(languages) == {"notizen.md": "german", "haus.py": "english"}
    Chunk.objects.update(embedding=None)
    measured = {
        one.ref: one.measures.get("words", 0.0) for one in ranked(agent, "words", "Welches Haus verkaufen wir?")
    }
    assert measured[f"chunk:{made.id}@1#0"] > measured[f"chunk:{code.id}@1#0"]
