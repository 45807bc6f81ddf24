"""Two texts contradict each other, say the same, or neither."""

import datetime
import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assembly.conflicts.detection import compare_texts, comparison, text_statements
from assembly.conflicts.detection.classifier import LABELS, load_classifier
from assembly.conflicts.detection.cues import Cues, find_cues
from assembly.conflicts.detection.figures import evaluate, figures_of, similarities_by
from assembly.conflicts.detection.labelled_pairs import LabelledPair, load_pairs
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.text_statements import statements_of
from memories.embeddings.wordllama import WordLlama
from tests.examples import examples

PAIRS = Path(__file__).parents[1] / "pairs"
WORDS = (
    "The", "server", "Anna", "is", "isn't", "not", "open", "closed", "on", "5", "7", "days", "May", "3", "%", "kg",
    "lives", "in", "Oslo", "Bergen", "never", "now", "was", "for", "2 h", "€", "a", "and", ",", ".", ":", "\n", "- ",
    "OPS-7", "half", "one", "no more than", "ist", "nicht", "der", "Laden", "14:00", "2026-05-03", "costs nothing",
    "unstable", "stable",
)  # fmt: skip

texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))


@settings(deadline=None, max_examples=examples(100))
@given(left=texts, right=texts, similarity=st.floats(-1, 1))
def test_any_two_texts_are_compared_the_same_from_both_sides(left: str, right: str, similarity: float) -> None:
    there = compare_texts(left, right, similarity=similarity)
    back = compare_texts(right, left, similarity=similarity)
    assert there.label in LABELS
    assert 0 <= there.subject <= 1
    assert 0 <= there.severity <= 1
    assert 0 <= there.probability <= 1
    assert (there.label, there.kind, there.severity, there.subject) == (
        back.label,
        back.kind,
        back.severity,
        back.subject,
    )


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("The shop opens at 8 in the morning.", "The shop opens at 9 in the morning.", "time"),
        ("The meeting starts at 14:00.", "The meeting starts at noon.", "time"),
        ("The meeting is on 3 May at 14:00.", "The meeting is on 3 May at 16:00.", "time"),
        ("The meeting is on 3 May at 14:00.", "The meeting is on 9 May at 14:00.", "date"),
        ("The meeting is on Monday.", "The meeting is on Thursday.", "date"),
        ("Der Laden öffnet um 8 Uhr.", "Der Laden öffnet um 10 Uhr.", "time"),
        ("Der Laden öffnet am Montag.", "Der Laden öffnet am Freitag.", "date"),
        ("La tienda abre a las 8.", "La tienda abre a las 10.", "time"),
        ("La tienda abre el lunes.", "La tienda abre el viernes.", "date"),
    ],
)
def test_times_of_day_are_told_apart_from_dates(left: str, right: str, kind: str) -> None:
    for pair in ((left, right), (right, left)):
        found = compare_texts(*pair, similarity=0.9)
        assert (found.label, found.kind) == ("conflict", kind)


@settings(deadline=None)
@given(text=texts)
def test_a_text_is_the_duplicate_of_itself(text: str) -> None:
    assert compare_texts(text, text, similarity=1).label == "duplicate"


@pytest.mark.parametrize("file", sorted(PAIRS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_all_labelled_pairs_are_compared_the_same_from_both_sides(file: Path) -> None:
    for pair in load_pairs(file):
        there = compare_texts(pair.left, pair.right, similarity=0.7)
        back = compare_texts(pair.right, pair.left, similarity=0.7)
        assert (there.label, there.kind, there.severity) == (back.label, back.kind, back.severity)
        assert (there.left_statement, there.right_statement) == (back.right_statement, back.left_statement)


def test_the_shipped_weights_reach_the_figures_on_pairs_that_were_held_out() -> None:
    pairs = load_pairs(PAIRS / "held_out.jsonl")
    figures = figures_of(evaluate(pairs, similarities_by(WordLlama()), load_classifier()))
    assert figures["precision"] >= 0.9
    assert figures["recall"] >= 0.7
    assert figures["false_alarms"] <= 0.05
    assert figures["duplicate_precision"] >= 0.95


def test_the_shipped_weights_are_seldom_wrong_about_pairs_of_strangers() -> None:
    pairs = load_pairs(PAIRS / "strangers.jsonl")
    assert {pair.writer for pair in pairs} == {"first", "second"}
    figures = figures_of(evaluate(pairs, similarities_by(WordLlama()), load_classifier()))
    assert figures["precision"] >= 0.9
    assert figures["recall"] >= 0.35
    assert figures["false_alarms"] <= 0.05
    assert figures["duplicate_precision"] >= 0.95


SEALED = {
    "sealed": {"precision": 0.8, "recall": 0.6, "false_alarms": 0.1},
    "opened": {"precision": 0.77, "recall": 0.6, "false_alarms": 0.081},
}
"""What is reached on pairs of two writers: on the third that nobody has looked at, and on the rest."""


@pytest.mark.parametrize("name", SEALED)
def test_the_shipped_weights_reach_on_sealed_pairs_what_the_documentation_says(name: str) -> None:
    pairs = load_pairs(PAIRS / f"{name}.jsonl")
    assert {pair.writer for pair in pairs} == {"fifth", "sixth"}
    figures, least = figures_of(evaluate(pairs, similarities_by(WordLlama()), load_classifier())), SEALED[name]
    assert figures["precision"] >= least["precision"]
    assert figures["recall"] >= least["recall"]
    assert figures["false_alarms"] <= least["false_alarms"]
    assert figures["duplicate_precision"] >= 0.95


def test_the_sealed_third_was_chosen_by_the_texts_alone() -> None:
    for name, is_sealed in (("sealed", True), ("opened", False)):
        for pair in load_pairs(PAIRS / f"{name}.jsonl"):
            digest = hashlib.sha256((pair.left + pair.right).encode()).digest()
            assert (digest[0] % 3 == 0) is is_sealed


def test_a_third_of_the_pairs_is_not_trained_with_and_none_is_in_two_files() -> None:
    files = {name: load_pairs(PAIRS / f"{name}.jsonl") for name in ("train", "held_out", "fresh", "notes")}
    texts_of = {name: {(pair.left, pair.right) for pair in pairs} for name, pairs in files.items()}
    assert sum(map(len, files.values())) >= 450
    assert (sum(map(len, files.values())) - len(files["train"])) * 3 >= sum(map(len, files.values()))
    assert all(not texts_of["train"] & texts for name, texts in texts_of.items() if name != "train")
    for name in ("wide", "varied", "strangers", "third", "documentation", "sealed", "opened"):
        pairs = {(pair.left, pair.right) for pair in load_pairs(PAIRS / f"{name}.jsonl")}
        assert all(not pairs & texts for texts in texts_of.values())
    assert {pair.label for pairs in files.values() for pair in pairs} == set(LABELS)


def test_a_conflict_names_both_values_and_the_sentences() -> None:
    left = "Pelican Air flies three routes. Its fleet has 11 aircraft. Contact is by mail."
    right = "Pelican Air is a carrier. Its fleet has 17 aircraft."
    found = compare_texts(left, right, similarity=0.8)
    assert (found.label, found.kind) == ("conflict", "number")
    assert found.cue == "“11” against “17”"
    assert found.left_statement == "Its fleet has 11 aircraft."
    assert found.right_statement == "Its fleet has 17 aircraft."
    assert 0.3 < found.severity < 0.9


def test_the_cue_of_a_negation_tells_where_it_stands() -> None:
    found = compare_texts(
        "Deployments to production are allowed.", "Deployments to production are not allowed.", similarity=0.9
    )
    assert (found.label, found.kind, found.cue) == ("conflict", "negation", "“not” only in the right text")


def test_different_values_on_different_days_are_a_change() -> None:
    left, right = "Ticket OPS-7 is open.", "Ticket OPS-7 is closed."
    march, april = datetime.date(2026, 3, 1), datetime.date(2026, 4, 1)
    assert compare_texts(left, right, similarity=0.9).label == "conflict"
    change = compare_texts(left, right, similarity=0.9, left_date=march, right_date=april)
    assert (change.label, change.severity) == ("evolving", 0)
    assert compare_texts(left, right, similarity=0.9, left_date=march).label == "conflict"


@pytest.mark.parametrize("right", ["The rent was paid.", " the rent\nwas PAID. ", "The rent has been paid."])
def test_the_same_on_different_days_happened_twice(right: str) -> None:
    january, february = datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)
    left = "The rent was paid."
    assert compare_texts(left, right, similarity=0.99).label == "duplicate"
    for day in (None, january):
        assert compare_texts(left, right, similarity=0.99, left_date=january, right_date=day).label == "duplicate"
    found = compare_texts(left, right, similarity=0.99, left_date=january, right_date=february)
    assert (found.label, found.kind, found.cue, found.severity) == ("similar", "", "", 0)


@pytest.mark.parametrize(
    ("left", "right", "label"),
    [
        ("", "", "duplicate"),
        ("", "The shop is open.", "unrelated"),
        ("The shop is open.", "  the shop\nis OPEN. ", "duplicate"),
        ("A.\nB is open. C costs 5 euros.", "C costs 5 euros. B is open. A.", "duplicate"),
        ("Config lives in config.yaml.", "Secrets come from the vault. Config lives in config.yaml.", "refining"),
        ("The logo is blue.", "Garlic is planted in October.", "unrelated"),
    ],
)
def test_texts_without_conflict(left: str, right: str, label: str) -> None:
    assert compare_texts(left, right, similarity=0.9 if label != "unrelated" else 0.1).label == label


def test_long_texts_cost_a_bounded_number_of_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def count(left: Statement, right: Statement) -> Cues:
        compared.append(1)
        return find_cues(left, right)

    monkeypatch.setattr("assembly.conflicts.detection.comparison.find_cues", count)
    left = " ".join(f"Server {number} has {number} disks." for number in range(500))
    right = " ".join(f"Server {number} has {number + 1} disks." for number in range(500))
    assert len(text_statements.statements_of(left, "english")) == text_statements.MAX_STATEMENTS
    compare_texts(left, right, similarity=0.9)
    assert len(compared) == comparison.MAX_PAIRS


def test_a_long_word_or_number_is_no_trouble() -> None:
    for text in ("x" * 50_000, "9" * 50_000, "a." * 20_000, "not " * 10_000, "1:" * 10_000, "' " * 10_000):
        assert compare_texts(text, text[:-1] + "z", similarity=0.5).label in LABELS


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Deployments on Fridays are allowed.", "Deployments on Fridays are not allowed."),
        ("Deliveries arrive on Mondays.", "Deliveries never arrive on Mondays."),
        ("The shop has 3 doors.", "The shop does not have 3 doors."),
        ("The door is closed.", "The door is not closed."),
        ("The museum is free.", "The museum is not free."),
    ],
)
def test_a_statement_contradicts_its_plain_denial(left: str, right: str) -> None:
    pair = LabelledPair(left, right, "conflict")
    (outcome,) = evaluate([pair], similarities_by(WordLlama()), load_classifier())
    found = outcome.found
    assert (found.label, found.kind) == ("conflict", "negation")


@pytest.mark.parametrize(
    ("left", "right"),
    [("The company was founded 2019.", "The company was founded 2021."),
     ("The contract runs through 2026.", "The contract runs through 2027."),
     ("The museum opened in early 2019.", "The museum opened in early 2021."),
     ("The factory ran from 2010-2019.", "The factory ran from 2010-2021."),
     ("The school was founded in 1887.", "The school was founded in 1897.")],
)  # fmt: skip
def test_another_year_is_another_date_and_no_minor_conflict(left: str, right: str) -> None:
    found = compare_texts(left, right, similarity=0.93)
    assert (found.label, found.kind) == ("conflict", "date")
    assert 0.3 < found.severity <= 0.8


def test_a_count_that_looks_like_a_year_is_a_number() -> None:
    found = compare_texts("The hall seats 2019 people.", "The hall seats 2021 people.", similarity=0.93)
    assert (found.label, found.kind) == ("conflict", "number")


def test_a_heading_that_states_something_is_compared() -> None:
    stated = "**The office is closed on Mondays.**\nParking is free."
    assert compare_texts(stated, "The office is open on Mondays.", similarity=0.7).label == "conflict"
    assert len(statements_of("# On call\n\nThe week begins on Monday.", "english")) == 1
    assert len(statements_of("# The office is closed on Mondays\n\nParking is free.", "english")) == 2
    assert len(statements_of("# On call", "english")) == 1


def test_the_number_of_an_entry_is_no_sentence() -> None:
    text = "1. Ask first.\n2. Close gate 4.\nIt was built in 1990. Later"
    said = [one.text for one in statements_of(text, "english")]
    assert said == ["Ask first.", "Close gate 4.", "It was built in 1990.", "Later"]
