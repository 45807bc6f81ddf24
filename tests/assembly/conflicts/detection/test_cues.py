"""What tells that two statements contradict each other, and what tells that they do not."""

import pytest

from assembly.conflicts.detection.cues import find_cues
from assembly.conflicts.detection.lexicon import load_lexicon
from assembly.conflicts.detection.statement_analysis import analyse


def kinds(left: str, right: str) -> set[str]:
    cues = find_cues(analyse(left, "english"), analyse(right, "english"))
    return {difference.kind for difference in cues.differences}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Imports take two hours.", "Imports take three hours.", {"number"}),
        ("Imports take two hours.", "Imports take 120 minutes.", set()),
        ("The hearing is on 3 May.", "The hearing is on 9 May.", {"date"}),
        ("The hearing is on 3 May.", "The hearing is in May.", set()),
        ("The shop is open.", "The shop is not open.", {"negation"}),
        ("The shop is open.", "The shop isn't open.", {"negation"}),
        ("The shop is open.", "The shop is never open.", {"negation"}),
        ("We log addresses.", "Nobody logs addresses.", {"negation"}),
        ("The lot has a garage.", "The lot has no garage.", {"negation"}),
        ("The import takes a lock.", "The import runs without a lock.", {"negation"}),
        ("The shop is open.", "The shop is closed.", {"state"}),
        ("The shop is open.", "The shop is not closed.", set()),
        ("The shop isn't open.", "The shop is not closed.", {"state"}),
        ("Smoking is not allowed.", "Smoking is forbidden.", set()),
        ("Do not touch the bowls.", "Touching the bowls is forbidden.", set()),
        ("The build is stable.", "The build is unstable.", {"state"}),
        ("The north door is open.", "The south door is open.", set()),
        ("Marek lives in Oslo.", "Marek lives in Bergen.", {"property"}),
        ("The default branch is main.", "The default branch is develop.", {"property"}),
        ("Currency: CHF", "Currency: EUR", {"property"}),
        ("No more than 5 kg.", "At most 5 kg.", set()),
        ("The pass is free.", "The pass costs nothing.", set()),
        ("Use the blue ladder.", "Use the blue ladder, not the red one.", set()),
        ("Selma drinks tea.", "Selma drinks tea without sugar.", set()),
    ],
)
def test_cues_are_typed(left: str, right: str, expected: set[str]) -> None:
    assert kinds(left, right) == expected
    assert kinds(right, left) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("The logo is blue.", "The logo is red.", "exclusive"),
        ("Our database is PostgreSQL.", "Our database is MySQL.", "single"),
        ("Amira is a nurse.", "Amira is a pilot.", "unknown"),
        ("The bag is heavy.", "The bag is ugly.", "multi"),
    ],
)
def test_a_property_has_one_value_or_several(left: str, right: str, expected: str) -> None:
    assert find_cues(analyse(left, "english"), analyse(right, "english")).property_class == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Server alpha has 64 GB.", "Server beta has 32 GB."),
        ("Ward 4 is closed.", "Ward 6 is open."),
        ("The deploy script runs at 5 am.", "The backup script runs at 3 am."),
        ("The north door is open.", "The south door is closed."),
    ],
)
def test_two_subjects_are_told_apart(left: str, right: str) -> None:
    cues = find_cues(analyse(left, "english"), analyse(right, "english"))
    assert cues.has_other_subject or cues.has_other_name


def test_a_name_spelled_alike_is_another_name() -> None:
    assert kinds("The parts come from Austria.", "The parts come from Australia.") == {"property"}


def test_the_words_of_a_report_are_not_those_of_the_statement() -> None:
    statement = analyse("The officer reminded us that the audit is in May.", "english")
    assert statement.words == {"audit"}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Der Laden ist geöffnet.", "Der Laden ist geschlossen.", "state"),
        ("Anna isst Fleisch.", "Anna isst kein Fleisch.", "negation"),
        ("Die Miete kostet 900 Euro.", "Die Miete kostet 1.100 Euro.", "number"),
        ("Die Frist endet am 3. Mai.", "Die Frist endet am 9. Mai.", "date"),
    ],
)
def test_german_has_cues_too(left: str, right: str, expected: str) -> None:
    cues = find_cues(analyse(left, "german"), analyse(right, "german"))
    assert [difference.kind for difference in cues.differences] == [expected]


@pytest.mark.parametrize(
    ("left", "right", "kind", "values"),
    [
        ("Parking is free.", "Parking costs 4 euros.", "number", {"free", "4 euros"}),
        ("The hall seats 40 people.", "The hall has seats for 25.", "number", {"40", "25"}),
        ("Backups run every six hours.", "Backups run once a day.", "number", {"every six hours", "once a day"}),
        ("Partners may make 60 calls per hour.", "The limit is 20 calls per hour.", "number", {"60", "20"}),
        ("Python 3.9 is the minimum.", "We need at least Python 3.11.", "number", {"3.9", "3.11"}),
        ("Rent is due on the first of the month.", "Rent is due on the 15th of each month.", "date", None),
        ("The CTO of Brightline is Femi Ade.", "Brightline is led by its CTO Ruth Lang.", "property", None),
        ("Members can book courts.", "Only trainers can book courts.", "state", {"members", "trainers"}),
        ("The pool is heated all year.", "The pool is not heated in winter.", "negation", None),
        ("The bug is open.", "The bug was closed without a fix.", "state", {"open", "closed"}),
    ],
)
def test_cues_are_found_in_other_words(left: str, right: str, kind: str, values: set[str] | None) -> None:
    for one, other in ((left, right), (right, left)):
        strongest = find_cues(analyse(one, "english"), analyse(other, "english")).strongest()
        assert strongest is not None
        assert strongest.kind == kind
        if values:
            assert all(value in f"{strongest.left} {strongest.right}" for value in values), strongest


def test_strengths_grow_with_the_distance() -> None:
    def strength(left: str, right: str) -> float:
        strongest = find_cues(analyse(left, "english"), analyse(right, "english")).strongest()
        assert strongest
        return strongest.strength

    close, far = (strength("It takes 10 days.", f"It takes {days} days.") for days in (11, 90))
    assert 0.3 <= close < far <= 0.9
    close, far = (strength("It is on 3 May.", f"It is on {day} May.") for day in (4, 29))
    assert 0.3 <= close < far <= 0.8
    assert strength("The shop is open.", "The shop is not open.") == 0.9
    assert strength("The shop is open.", "The shop is closed.") == 0.8


def test_every_pair_of_opposites_is_found_in_sentences() -> None:
    lexicon = load_lexicon("english")
    phrases = [*lexicon.phrases.values(), *lexicon.stem_phrases.values()]
    pairs: dict[int, dict[int, str]] = {}
    for found in phrases:
        for phrase, (name, group, pole) in found:
            if name == "opposites" and phrase in {p for one in lexicon.phrases.values() for p, _ in one}:
                pairs.setdefault(group, {})[pole] = " ".join(phrase)
    complete = [poles for poles in pairs.values() if len(poles) == 2]
    assert len(complete) > 40
    for poles in complete:
        statements = [analyse(f"The thing itself is {poles[pole]} today.", "english") for pole in (0, 1)]
        assert {"state", "negation"} & {one.kind for one in find_cues(*statements).differences}, poles
