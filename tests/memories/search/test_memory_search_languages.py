"""Searching memories in several languages: a word meets its other forms, in whichever language the texts are."""

import datetime
from typing import Any

import pytest
from django.db import connection

from agents.models import Agent
from memories.models import Entity, Memory, MemoryVersion
from memories.search.memory_search import rows_with_features
from memories.search.question import QueryTerms, parse_question, read_terms
from memories.search.row_format import TIME_WORDS, OwnerSearch, ids_of
from memories.services import MemoryFacts, memories_create, memory_update
from memories.services.memory import facts_of
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

TODAY = datetime.date(2023, 10, 25)
GERMAN = "Ada: Ich habe die Rechnungen für das alte Haus bezahlt."
SPANISH = "Ben: Las facturas de la casa están pagadas, y no hay nada más."
ENGLISH = "Cleo: The invoices for the house are paid, and that is all."

FORMER = "SELECT lexeme FROM unnest(to_tsvector('english', %s)) ORDER BY length(lexeme) DESC, lexeme LIMIT 40"
"""How the words of a question were read before memories had languages."""


def remember(agent: Agent, *texts: str, **facts: Any) -> list[Memory]:
    made = [MemoryFacts(kind="fact", text=text, **facts) for text in texts]
    return memories_create(owner=agent, facts=made, principal=SYSTEM)


def terms_of(agent: Agent, text: str) -> QueryTerms:
    terms, _, _ = read_terms(parse_question(text, None, TODAY), "agent_id", agent.pk, most=2_000)
    return terms


def measured(agent: Agent, feature: str, asked: str) -> dict[str, float]:
    """The feature of each text, by the text: `words` is the share of the question's words that it has."""
    rows, measures = rows_with_features(agent, parse_question(asked, None, TODAY), least=1)
    texts = dict(Memory.objects.values_list("id", "text"))
    return {texts[id_]: value for id_, value in zip(ids_of(rows), measures[feature].tolist(), strict=True)}


@pytest.mark.parametrize("text", [GERMAN, SPANISH, ENGLISH])
def test_texts_are_stored_in_their_language(agent: Agent, text: str) -> None:
    [memory] = remember(agent, text)
    assert Memory.objects.get(pk=memory.pk).language == {GERMAN: "german", SPANISH: "spanish"}.get(text, "english")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Welche Rechnung bezahlte Ada?", GERMAN),
        ("Wer hat in alten Häusern gewohnt?", GERMAN),
        ("¿Quién ha pagado la factura?", SPANISH),
        ("Which invoice is for the houses?", ENGLISH),
    ],
)
def test_a_word_meets_its_other_forms(agent: Agent, question: str, text: str) -> None:
    remember(agent, GERMAN, SPANISH, ENGLISH)
    words = measured(agent, "words", question)
    assert max(words, key=words.__getitem__) == text
    assert words[text] > 0


def test_stop_words_of_the_question_are_no_terms(agent: Agent) -> None:
    remember(agent, GERMAN, SPANISH, ENGLISH)
    german = "Wo ist die Rechnung, und was ist mit der alten Wohnung?"
    assert terms_of(agent, german).words == ("'rechnung'", "'wohnung'", "'alt' | 'alten'")
    assert terms_of(agent, "Did the man die at the end of it?").words == ("'die'", "'end'", "'man'")


def test_a_word_labels_in_all_its_forms(agent: Agent) -> None:
    remember(agent, GERMAN, "Clara: Das habe ich nicht gesehen, und das war es.")
    terms = terms_of(agent, "Was hat Clara nicht gesehen?")
    [place] = [place for place, word in enumerate(terms.words) if "clara" in word]
    assert terms.label(place) == "'clara':A"
    assert terms.words[place] == "'clara'"
    labels = {terms.label(place) for place in range(len(terms.words))}
    assert labels == {"'clara':A", "'geseh':A | 'gesehen':A"}


def test_an_entity_is_found_in_each_language(agent: Agent) -> None:
    Entity.objects.create(agent=agent, type="Thing", name="Alte Häuser", aliases=[])
    remember(agent, GERMAN, SPANISH)
    [entity] = terms_of(agent, "Wo sind die Alte Häuser?").entities
    assert entity == "'alt' <-> 'haus' | 'alt' <-> 'häuser' | 'alte' <-> 'häus'"
    with connection.cursor() as cursor:
        cursor.execute("SELECT text FROM memories WHERE search @@ %s::tsquery", [entity])
        assert cursor.fetchall() == [(GERMAN,)]


@pytest.mark.parametrize(
    "text",
    [
        "When did Ada pay the invoices for the house?",
        "Was there a war in which the man did not die?",
        "Wann hat Ada die Rechnungen bezahlt?",
        "¿Cuándo se pagaron las facturas?",
        "it's a 'quoted' \\ word & | ! {a,b} \"c\" NULL",
        "https://a.b/c|d?e='f' user@example.org 12-35 state-of-the-art",
        "你好 世界",
        "the of",
        "",
        " ".join(f"word{number}" for number in range(60)),
    ],
)
def test_owners_of_english_texts_have_the_terms_that_they_had(agent: Agent, text: str) -> None:
    remember(agent, ENGLISH, "Tea")
    terms = terms_of(agent, text)
    with connection.cursor() as cursor:
        cursor.execute(FORMER, [text])
        former = [row[0].replace("\\", "\\\\").replace("'", "''") for row in cursor.fetchall()]
    assert terms == QueryTerms(tuple(f"'{lexeme}'" for lexeme in former))
    search = OwnerSearch("agent_id", agent.pk, parse_question(text, None, TODAY), terms)
    assert search.parameters["time_words"] == TIME_WORDS


def test_terms_are_the_same_where_entities_are_on_another_server(agent: Agent, settings: Any) -> None:
    """Then the search of files asks for the entities by themselves, in the languages of the files."""
    for name in ("Alte Häuser", "Ada"):
        Entity.objects.create(agent=agent, name=name, type="thing")
    question = parse_question("Wo sind die Alte Häuser von Ada?", None, TODAY)
    asked: dict[str, Any] = {"most": 0, "languages_of": "file_passages", "spoken": ["german", "spanish"]}
    here, _, _ = read_terms(question, "agent_id", agent.pk, **asked)
    settings.DATABASE_DISTRIBUTED = True
    apart, _, _ = read_terms(question, "agent_id", agent.pk, **asked)
    assert apart == here
    assert any("'alt' <-> 'haus'" in entity for entity in apart.entities)
    assert len(apart.entities) == 2
    assert {*apart.languages} == {"english", "german", "spanish"}


def test_a_question_of_many_words_finds_the_forms_of_each(agent: Agent) -> None:
    remember(agent, GERMAN)
    page = " ".join(["und", *(f"Wort{number} und" for number in range(17_000)), "Rechnungen"])
    words = terms_of(agent, page).words
    assert len(words) == 40
    assert all(word.count("'") == 2 for word in words if "wort" in word)


def test_who_asks_when_in_german_gets_what_says_a_time_in_german(agent: Agent) -> None:
    texts = ("Das Boot ist verkauft und nicht mehr da.", "Das Boot ist seit letzter Woche nicht mehr da.")
    remember(agent, *texts)
    said = measured(agent, "time_said", "Wann war das Boot nicht mehr da?")
    assert [text for text in texts if said[text]] == [texts[1]]


def test_short_texts_have_the_language_that_prevails(agent: Agent) -> None:
    assert [memory.language for memory in remember(agent, "Tomaten")] == ["english"]
    assert [memory.language for memory in remember(agent, GERMAN, "Gurken", GERMAN)] == ["german"] * 3
    assert [memory.language for memory in remember(agent, "Zwiebeln")] == ["german"]
    assert [memory.language for memory in remember(agent, ENGLISH)] == ["english"]


def test_a_new_text_has_its_own_language(agent: Agent) -> None:
    [memory] = remember(agent, ENGLISH)
    facts = facts_of(memory)
    for text, language, expected in [
        (GERMAN, "", "german"),
        (GERMAN, "dutch", "dutch"),
        (GERMAN, "", "dutch"),
        (SPANISH, "", "spanish"),
        (ENGLISH, "german", "german"),
    ]:
        changed = MemoryFacts(kind=facts.kind, text=text, language=language)
        memory = memory_update(
            memory=memory, expected_version=memory.version, facts=changed, superseded_by=None, principal=SYSTEM
        )
        assert memory.language == MemoryVersion.objects.get(file=memory, version=memory.version).language == expected
    assert memory.version == 5, "one that changed nothing made no version"
