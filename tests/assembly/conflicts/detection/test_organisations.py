"""Whole organisations with planted contradictions: their files are sound, and what is found in them is counted."""

from collections import Counter

from tests.benchmarks.conflict_organisations import (
    USES,
    Note,
    Organisation,
    OrganisationFigures,
    load_organisations,
    measure,
    use_of,
)

RULES = """# Rules

## Depot

Pallets are stacked two high.
- Invoices are due within 30 days.
- Visitors may not take photos.
"""
NOTES = (
    Note("Invoices are due within 14 days.", "conflict", "Invoices are due within 30 days."),
    Note("The man from the paper took pictures of us all.", "conflict", "Visitors may not take photos."),
    Note("The ferry leaves at 9:30.", "none", None),
    Note("The ferry leaves at 10:15.", "none", None),
)


def test_every_note_is_about_a_line_of_one_passage_or_about_none() -> None:
    found = list(load_organisations())
    assert frozenset().union(*USES.values()) < {one.name for one in found}
    for organisation in found:
        notes = {note.text for note in organisation.notes}
        passages = [text.text for text in organisation.texts() if text.text not in notes]
        lines = [note.line for note in organisation.notes if note.line]
        assert len(notes) == len(organisation.notes) >= 100
        assert len(organisation.planted()) >= 30
        assert len(set(lines)) == len(lines)
        for note in organisation.notes:
            assert note.label in ("conflict", "duplicate", "refining", "none")
            assert (note.line is None) == (note.label == "none")
            assert note.line is None or sum(note.line in passage for passage in passages) == 1, note


def test_planted_and_wrong_conflicts_are_counted() -> None:
    counted = measure(Organisation("shop", [RULES], NOTES), None)
    assert counted == OrganisationFigures(texts=5, planted=2, compared=1, found=1, wrong=1)


def test_figures_of_several_organisations_are_added() -> None:
    sums = OrganisationFigures()
    for _ in range(2):
        sums.add(OrganisationFigures(texts=50, planted=10, compared=8, found=6, wrong=2))
    assert sums.shares() == {"precision": 0.75, "recall": 0.6, "reached_recall": 0.8, "wrong_per_100_texts": 4.0}


def test_each_organisation_has_one_use() -> None:
    counted = Counter(use_of(one.name) for one in load_organisations())
    assert counted == {"trained": 21, "thresholds": 5, "unseen": 14, "spare": 16}
