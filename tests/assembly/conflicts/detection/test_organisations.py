"""Whole organisations with planted contradictions: their files are sound, and what is found in them is counted."""

from assembly.conflicts.detection.neighbours import Neighbours
from tests.benchmarks.conflict_organisations import (
    THRESHOLDS,
    UNSEEN,
    Note,
    Organisation,
    OrganisationFigures,
    load_organisations,
    measure,
    use_of,
)

RULES = """# Rules

## Till

- No cash on the premises overnight
- Refunds: only the shift lead
"""
NOTES = (
    Note("No cash is on the premises overnight.", "duplicate", "No cash on the premises overnight"),
    Note("There is cash on the premises overnight.", "conflict", "No cash on the premises overnight"),
    Note("Refunds are given by whoever stands at the till.", "conflict", "Refunds: only the shift lead"),
    Note("The till is on the premises.", "none", None),
)
SHOP = Organisation("shop", [RULES], NOTES)


def pair(left: int | None, right: int) -> Neighbours:
    return Neighbours(RULES if left is None else NOTES[left].text, NOTES[right].text, 0.5)


def test_every_note_is_about_a_line_of_a_file_or_about_none() -> None:
    found = list(load_organisations())
    assert {*THRESHOLDS, *UNSEEN} < {one.name for one in found}
    for organisation in found:
        texts = [note.text for note in organisation.notes]
        assert len(set(texts)) == len(texts) >= 100
        assert sum(note.is_planted for note in organisation.notes) >= 30
        for note in organisation.notes:
            assert note.label in ("conflict", "duplicate", "refining", "none")
            assert (note.line is None) == (note.label == "none")
            assert note.line is None or any(note.line in file for file in organisation.files), note


def test_a_note_contradicts_the_passage_with_its_line_and_notes_that_agree_with_it() -> None:
    assert SHOP.is_contradiction(pair(None, 1))
    assert SHOP.is_contradiction(pair(0, 1))
    assert not SHOP.is_contradiction(pair(None, 0))
    assert not SHOP.is_contradiction(pair(None, 3))
    assert not SHOP.is_contradiction(pair(2, 1))
    assert not SHOP.is_contradiction(pair(3, 1))


def test_right_and_wrong_conflicts_are_counted() -> None:
    counted = measure(SHOP, None)
    assert (counted.texts, counted.planted) == (5, 2)
    assert 1 <= counted.found <= counted.compared <= counted.planted
    assert counted.right >= counted.found
    assert counted.wrong == 0


def test_figures_of_several_organisations_are_added() -> None:
    sums = OrganisationFigures()
    for _ in range(2):
        sums.add(OrganisationFigures(texts=50, planted=10, compared=8, found=4, right=6, wrong=2))
    assert sums.shares() == {"precision": 0.75, "recall": 0.4, "reached_recall": 0.8, "wrong_per_100_texts": 4.0}


def test_each_organisation_has_one_use() -> None:
    assert {use_of(name) for name in ("bakery", *THRESHOLDS, *UNSEEN)} == {"trained", "thresholds", "unseen"}
