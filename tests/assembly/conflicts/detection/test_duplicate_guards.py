"""Duplicates pass hard guards, as contexts collapse them without a word."""

import pytest

from assembly.conflicts.detection import compare_texts


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ticket 4411 is still open.", "Ticket 4411 was closed without a fix."),
        ("The warehouse in Gent opens at 7.", "The warehouse in Gent closes at 19."),
        ("The sauna opens at 8.", "The sauna opens at 20."),
        ("The course starts on 4 May.", "The course ends on 4 May."),
        ("The flag is enabled in the north region.", "The flag is disabled in the north region."),
        ("The train runs from Oslo to Bergen.", "The train runs from Bergen to Oslo."),
        ("Ana owes Ben 5 euros.", "Ben owes Ana 5 euros."),
        ("Members may enter the workshop.", "Members must enter the workshop."),
        ("Only members enter the workshop.", "Members enter the workshop."),
        ("He likes the new office.", "She likes the new office."),
        ("The export is ready.", "Is the export ready?"),
        ("The export was ready.", "The export is ready."),
        ("I'll bring the printer.", "I bring the printer."),
        ("Some tests are slow.", "Tests are slow."),
        ("The contract is with the agency.", "The contact is with the agency."),
        ("Send parcels to the depot.", "Send parcels from the depot."),
        ("The door is locked if it rains.", "The door is locked."),
        ("Der Laden öffnet um 9 Uhr.", "Der Laden schließt um 9 Uhr."),
        ("The bakery delivers bread in Lyon.", "The bakery delivers bread and cakes in Lyon."),
    ],
)
def test_what_says_something_else_is_no_duplicate(left: str, right: str) -> None:
    assert compare_texts(left, right, similarity=0.98).label != "duplicate"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The shop is open on Sundays.", "The shop is not closed on Sundays."),
        ("The office is 3 km from the station.", "The office is 3,000 metres from the station."),
        ("Eva speaks Polish and English.", "Eva speaks English and Polish."),
        ("Her contract ends on 3 May 2027.", "Her contract expires on 3 May 2027."),
    ],
)
def test_what_says_the_same_is_a_duplicate(left: str, right: str) -> None:
    assert compare_texts(left, right, similarity=0.95).label == "duplicate"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The café opens at 8.", "The café closes at 18."),
        ("Does the pool open at 8?", "The pool opens at 9."),
        ("Ward 3 has 20 beds.", "Ward 4 has 25 beds."),
        ("The plan is free for schools.", "The plan was free for schools."),
        ("Only admins may delete files.", "Users cannot delete files."),
        ("No worries about the invoice.", "He worries about the invoice."),
    ],
)
def test_what_can_both_be_true_is_no_conflict(left: str, right: str) -> None:
    assert compare_texts(left, right, similarity=0.85).label != "conflict"
