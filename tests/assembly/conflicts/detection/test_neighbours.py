"""Whole corpora: which texts workers would compare."""

import json
from pathlib import Path

import pytest

from assembly.conflicts.detection.neighbours import CorpusText, find_neighbours, load_corpus
from memories.embeddings.wordllama import WordLlama


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
    found = find_neighbours(corpus, WordLlama(), floor=0.6, nearest=20)
    assert [(one.left, one.right) for one in found] == [
        (corpus[0].text, corpus[1].text),
        (corpus[0].text, corpus[4].text),
        (corpus[1].text, corpus[4].text),
        (corpus[3].text, corpus[4].text),
    ]
    assert all(0.6 <= one.similarity <= 1 for one in found)


def test_only_the_nearest_are_compared_and_no_two_parts_of_one_item() -> None:
    corpus = texts(*((f"The ferry leaves at {hour}.", f"{hour // 2}", "luna") for hour in range(6)))
    nearest = find_neighbours(corpus, WordLlama(), floor=0.1, nearest=1)
    assert 3 <= len(nearest) <= 6
    everything = find_neighbours(corpus, WordLlama(), floor=0.1, nearest=20)
    assert len(everything) == 6 * 5 / 2 - 3


def test_entities_are_compared_with_texts_that_name_them() -> None:
    everywhere = frozenset(("",))
    corpus = [
        CorpusText("Nora (Person): pilot of the ferry", "a", names=frozenset(("nora",)), reach=everywhere),
        CorpusText("Nora is the pilot of the ferry.", "b", reach=everywhere),
        CorpusText("Who is the pilot of the ferry?", "c", reach=everywhere),
        CorpusText("Ben (Person): pilot of the ferry", "d", names=frozenset(("ben",)), reach=everywhere),
    ]
    found = find_neighbours(corpus, WordLlama(), floor=0.3, nearest=20)
    pairs = {(one.left, one.right) for one in found}
    nora, said, asked, ben = (one.text for one in corpus)
    assert (nora, said) in pairs
    assert (said, asked) in pairs
    assert not pairs & {(nora, asked), (nora, ben), (said, ben), (asked, ben)}


def test_a_corpus_is_read_from_a_file_and_a_wrong_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"text": "One\u2028line.", "item": 3}) + "\n", encoding="utf-8")
    assert load_corpus(file) == [CorpusText("One\u2028line.", "3")]
    file.write_text('{"text": "no item"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"Line 1 of mine\.jsonl is no JSON object with text and item"):
        load_corpus(file)
