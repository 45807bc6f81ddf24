"""Whole corpora: which texts workers would compare, and what detection learns from those that are unrelated."""

import json
from pathlib import Path

import pytest

from assembly.conflicts.detection.contradiction_fitting import (
    chance_of,
    corpus_of,
    example,
    fit_contradiction,
    least_probabilities,
)
from assembly.conflicts.detection.nearness import heaviest_words, is_near, searched_pairs
from assembly.conflicts.detection.neighbours import CorpusText, Neighbours, find_neighbours, load_corpus
from memories.embeddings.wordllama import WordLlama

NOUNS = ("shop", "pool", "museum", "library", "kitchen", "harbour")
STATED = [(f"The {noun} opens at 8.", f"The {noun} opens at 9.") for noun in NOUNS]
UNRELATED = [
    (f"The {noun} opens at 8.", f"The gate of the {noun} by the {other} opens at 9.")
    for noun, other in zip(NOUNS, reversed(NOUNS), strict=True)
]


def texts(*said: tuple[str, str, str]) -> list[CorpusText]:
    return [CorpusText(text, item, owner, frozenset((owner, ""))) for text, item, owner in said]


def test_texts_near_in_meaning_of_one_owner_are_neighbours() -> None:
    corpus = texts(
        ("The ferry leaves at nine.", "a", "luna"),
        ("The ferry leaves at ten.", "b", "luna"),
        ("Garlic is planted in October.", "c", "luna"),
        ("The ferry leaves at noon.", "d", "edda"),
        ("The ferry leaves at one.", "e", ""),
    )
    found = find_neighbours(corpus, WordLlama(), nearest=20, further=0)
    assert [(one.left, one.right) for one in found] == [
        (corpus[0].text, corpus[1].text),
        (corpus[0].text, corpus[4].text),
        (corpus[1].text, corpus[4].text),
        (corpus[3].text, corpus[4].text),
    ]
    assert all(0.2 <= one.similarity <= 1 for one in found)


def test_only_the_nearest_are_compared_and_no_two_parts_of_one_item() -> None:
    corpus = texts(*((f"The ferry leaves at {hour}.", f"{hour // 2}", "luna") for hour in range(6)))
    nearest = find_neighbours(corpus, WordLlama(), nearest=1, further=0)
    assert 3 <= len(nearest) <= 6
    everything = find_neighbours(corpus, WordLlama(), nearest=20, further=0)
    assert len(everything) == 6 * 5 / 2 - 3


def test_short_texts_that_share_words_are_near_though_names_change_their_vectors() -> None:
    assert is_near("Tom lives in Bergen.", "Tom lives in Trondheim.", 0.46)
    assert not is_near("Tom lives in Bergen.", "Tom lives in Trondheim.", 0.1)
    assert not is_near("Tom lives in Bergen.", "Ana works in Trondheim.", 0.46)
    assert is_near("Tom lives in Bergen.", "Ana works in Trondheim.", 0.5)


RULES = """## Depot

Pallets are stacked two high. Returns go to gate 4, with the slip on top.
The depot in Bergen opens at 6:30 on working days.
Forklifts are charged overnight; nobody parks in front of the chargers."""


def test_a_line_of_a_longer_text_is_near_to_a_note_whatever_the_rest_is() -> None:
    assert is_near("The Bergen depot opens at 7.", RULES, 0.1)
    assert is_near(RULES, "The Bergen depot opens at 7.", 0.1)
    assert is_near("We park forklifts in front of the chargers overnight.", RULES, 0.1)
    assert not is_near("The bakery sells rye bread. Tools hang above the bench.", RULES, 0.1)
    assert not is_near("Nora reports on working conditions.", RULES, 0.1)
    assert not is_near("??", RULES, 0.1)
    assert not is_near("", RULES, 0.1)


def test_texts_are_searched_for_by_the_words_of_one_sentence() -> None:
    words = {frozenset(pair) for pair in searched_pairs(RULES)}
    assert frozenset(("bergen", "depot")) in words
    assert not any(pair >= {"pallets", "bergen"} for pair in words)
    assert searched_pairs("Bergen.") == []
    assert len(searched_pairs("A ferry leaves Bergen for Stavanger, Haugesund, Florø and Ålesund on Sunday.")) == 15
    long = " ".join(
        f"Ship{number} sails from port{number} with cargo{number} and crew{number}." for number in range(40)
    )
    assert len(searched_pairs(long)) == 12 * 6


def test_a_text_is_compared_with_those_that_have_two_of_its_words() -> None:
    others = [(f"The ferry to island {number} leaves at noon.", f"{number}", "luna") for number in range(4)]
    corpus = texts(("The ferry leaves at nine. Nora has the key of the boathouse.", "a", "luna"), *others)
    corpus += texts(("Tools hang in the shed.", "b", "luna"))
    corpus += texts(("Tools hang in the shed, in order.\nThe key of the boathouse: Ben has it.", "c", "luna"))
    pairs = [
        {(one.left, one.right) for one in find_neighbours(corpus, WordLlama(), nearest=1, further=further)}
        for further in (0, 1)
    ]
    wanted = corpus[0].text, corpus[-1].text
    assert wanted not in pairs[0]
    assert wanted in pairs[1]


def test_the_heaviest_words_are_names_and_nouns() -> None:
    found = heaviest_words("We think that the ferry to Lillehammer is a good thing for all of us and for the harbour.")
    assert {"ferry", "harbour"} <= set(found)
    assert not {"the", "that", "for", "and"} & set(found)
    assert len(found) <= 6


def test_entities_are_compared_with_texts_that_name_them() -> None:
    everywhere = frozenset(("",))
    corpus = [
        CorpusText("Nora (Person): pilot of the ferry", "a", names=frozenset(("nora",)), reach=everywhere),
        CorpusText("Nora is the pilot of the ferry.", "b", reach=everywhere),
        CorpusText("Who is the pilot of the ferry?", "c", reach=everywhere),
        CorpusText("Ben (Person): pilot of the ferry", "d", names=frozenset(("ben",)), reach=everywhere),
    ]
    found = find_neighbours(corpus, WordLlama(), nearest=20, further=0)
    entity, said, asked, other = (text.text for text in corpus)
    pairs = {frozenset((one.left, one.right)) for one in found}
    assert frozenset((entity, said)) in pairs
    assert not pairs & {frozenset((entity, asked)), frozenset((entity, other)), frozenset((asked, other))}


def test_a_corpus_teaches_what_is_no_conflict() -> None:
    examples = [example(left, right, 0.8, "conflict", 1.0) for left, right in STATED]
    examples += [example(left, left.replace("8", "8 o'clock"), 0.9, "duplicate", 1.0) for left, _ in STATED]
    corpus = corpus_of([Neighbours(left, right, 0.6) for left, right in UNRELATED], size=60)
    assert len(corpus.rows) == len(UNRELATED)
    weights = fit_contradiction(examples, [corpus])
    conflicts = [chance_of(weights, one.rows) for one in examples if one.is_conflict]
    unrelated = [chance_of(weights, rows) for rows in corpus.rows]
    assert min(conflicts) > max(unrelated)
    assert max(unrelated) < 0.5


def test_the_least_probability_bounds_what_is_found_in_corpora() -> None:
    examples = [example(left, right, 0.8, "conflict", 1.0) for left, right in STATED]
    halves = [corpus_of([Neighbours(*pair, 0.6) for pair in UNRELATED[half::2]], size=30) for half in (0, 1)]
    strict, strict_of_long = least_probabilities(examples, halves, false_per_1000=0)
    loose, _ = least_probabilities(examples, halves, false_per_1000=60)
    assert strict_of_long == 0.5, "none of the texts is long"
    assert strict >= loose
    without = [fit_contradiction(examples, [halves[1 - place]]) for place in (0, 1)]
    found = [chance_of(weights, rows) for weights, half in zip(without, halves, strict=True) for rows in half.rows]
    assert sum(chance >= strict for chance in found) == 0
    assert sum(chance >= loose for chance in found) <= 60 * 60 / 1_000


def test_a_corpus_is_read_from_a_file_and_a_wrong_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"text": "One\u2028line.", "item": 3}) + "\n", encoding="utf-8")
    assert load_corpus(file) == [CorpusText("One\u2028line.", "3")]
    file.write_text('{"text": "no item"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"Line 1 of mine\.jsonl is no JSON object with text and item"):
        load_corpus(file)
