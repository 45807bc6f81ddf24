"""A language model is asked last, about few pairs of statements, and decides together with the cues."""

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assembly.conflicts.detection import compare_texts
from assembly.conflicts.detection.classifier import load_classifier
from assembly.conflicts.detection.figures import evaluate, similarities_by
from assembly.conflicts.detection.inference import MAX_INFERRED_PAIRS, Inference
from assembly.conflicts.detection.labelled_pairs import load_pairs
from memories.embeddings.wordllama import WordLlama
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN
from tests.examples import examples

PAIRS = Path(__file__).parents[1] / "pairs"
Judge = Callable[[str, str], tuple[float, float]]
CONTRADICTS: Judge = lambda _premise, _hypothesis: (0.98, 0.01)  # noqa: E731
ENTAILS: Judge = lambda _premise, _hypothesis: (0.01, 0.97)  # noqa: E731


class Model:
    """A model that answers as the function says, and keeps what it was asked."""

    name = "oracle@1"
    threshold = 0.9

    def __init__(self, judge: Judge) -> None:
        self.asked: list[tuple[str, str]] = []
        self._judge = judge

    def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Inference]:
        self.asked += pairs
        return [Inference(*self._judge(*pair)) for pair in pairs]


class Failing(Model):
    """A model that cannot be loaded."""

    def infer(self, pairs: Sequence[tuple[str, str]]) -> None:  # type: ignore[override]
        self.asked += pairs


def test_a_contradiction_without_a_cue_is_a_conflict() -> None:
    model = Model(CONTRADICTS)
    found = compare_texts(VEGAN, BEEF, similarity=0.58, model=model)
    assert (found.label, found.kind, found.model, found.probability) == ("conflict", "meaning", "oracle@1", 0.98)
    assert found.severity == pytest.approx(0.98 * 0.8)
    assert found.cue == "The language model oracle@1 finds that one contradicts the other (probability 98 %)."
    assert model.asked == [(BEEF, VEGAN), (VEGAN, BEEF)]


def test_a_refuted_conflict_hides_no_other_one_of_the_same_texts() -> None:
    office, line = "The office is {} on Fridays.", " The support line opens at {} in the morning."
    texts = office.format("closed") + line.format("8"), office.format("open") + line.format("9")
    model = Model(lambda premise, _: (0.98, 0.0) if "support" in premise else (0.01, 0.0))
    found = compare_texts(*texts, similarity=0.85, model=model)
    assert (found.label, found.kind) == ("conflict", "time")
    refuting = Model(lambda _premise, _hypothesis: (0.01, 0.0))
    assert compare_texts(*texts, similarity=0.85, model=refuting).label not in {"conflict", "evolving"}


def test_after_a_refuted_conflict_the_model_is_asked_about_the_other_statements() -> None:
    texts = f"The office is closed on Fridays. {VEGAN}", f"The office is open on Fridays. {BEEF}"
    model = Model(lambda premise, _: (0.01, 0.0) if "office" in premise else (0.98, 0.0))
    found = compare_texts(*texts, similarity=0.85, model=model)
    assert (found.label, found.kind) == ("conflict", "meaning")


@pytest.mark.parametrize("heading", ["## Night shift", "**Night shift:**", "# Ward 3\n\n### Night shift"])
def test_a_line_is_read_with_its_heading(heading: str) -> None:
    line, note = "Two people at all times", "On the night shift Ngozi is on the ward by herself."
    model = Model(CONTRADICTS)
    compare_texts(f"{heading}\n\n- {line}\n- Visitors leave by eight.", note, similarity=0.4, model=model)
    assert (f"Night shift: {line}", note) in model.asked


def test_both_directions_count_the_same() -> None:
    # The mean of the log-odds counts: with odds of 27 and 3, they are 9, which is 90 %.
    leaning = Model(lambda premise, _: (27 / 28, 0.0) if premise == VEGAN else (0.74, 0.0))
    assert compare_texts(VEGAN, BEEF, similarity=0.58, model=leaning).label != "conflict"
    surer = Model(lambda premise, _: (27 / 28, 0.0) if premise == VEGAN else (0.76, 0.0))
    there, back = (compare_texts(*both, similarity=0.58, model=surer) for both in ((VEGAN, BEEF), (BEEF, VEGAN)))
    assert there.label == "conflict"
    assert (there.probability, there.severity, there.cue) == (back.probability, back.severity, back.cue)
    assert (there.left_statement, there.right_statement) == (back.right_statement, back.left_statement)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The line opens at 8.", "The line opens at 9."),
        ("Invoices are due within 30 days.", "Invoices are due within 14 days."),
    ],
)
def test_a_conflict_by_cues_stays_if_the_model_finds_it_too(left: str, right: str) -> None:
    by_cues = compare_texts(left, right, similarity=0.9)
    assert by_cues.label == "conflict"
    assert compare_texts(left, right, similarity=0.9, model=Model(CONTRADICTS)) == by_cues
    hardly, rather = (Model(lambda *_, share=share: (share, 0.0)) for share in (0.49, 0.51))
    assert compare_texts(left, right, similarity=0.9, model=rather) == by_cues
    assert compare_texts(left, right, similarity=0.9, model=hardly).label == "similar"


@pytest.mark.parametrize("judge", [CONTRADICTS, ENTAILS])
def test_a_duplicate_by_cues_stays(judge: Judge) -> None:
    both = ("Use British spelling in all letters.", "All letters use British spelling.")
    model = Model(judge)
    found = compare_texts(*both, similarity=0.9, model=model)
    assert (found, found.label, model.asked) == (compare_texts(*both, similarity=0.9), "duplicate", [])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (VEGAN, "What does the school canteen cook?"),
        ("The staging cluster runs on fast disks.", "The production cluster runs on slow tapes."),
        ("Ward 3 has a view of the garden.", "Ward 4 looks onto the car park."),
        ("The shop opens early in summer.", "The shop closes late in summer."),
        ("load(vegan, canteen)", "load(beef, canteen)"),
        (VEGAN, "School canteen (Place)\ncooks: beef\nopen: at noon"),
    ],
)
def test_what_is_about_two_things_is_not_asked(left: str, right: str) -> None:
    model = Model(CONTRADICTS)
    assert compare_texts(left, right, similarity=0.9, model=model).label != "conflict"
    assert model.asked == []


def test_sentences_of_longer_texts_are_asked_only_if_they_are_near_in_meaning() -> None:
    far = "Beef is what Lena bought."
    model = Model(CONTRADICTS)
    assert compare_texts(VEGAN, far, similarity=0.49, model=model).kind == "meaning"
    assert len(model.asked) == 2
    assert compare_texts(VEGAN, f"{far} Otto stayed at home.", similarity=0.49, model=model).label != "conflict"
    assert len(model.asked) == 2


def test_a_change_by_cues_is_a_conflict_if_the_model_finds_a_contradiction() -> None:
    both = ("Ravi worked at Siemens.", "Ravi now works at Bosch.")
    assert compare_texts(*both, similarity=0.9, model=Model(ENTAILS)) == compare_texts(*both, similarity=0.9)
    assert compare_texts(*both, similarity=0.9).label == "evolving"
    assert compare_texts(*both, similarity=0.9, model=Model(CONTRADICTS)).kind == "meaning"


def test_a_contradiction_of_longer_texts_needs_a_higher_probability() -> None:
    longer, note = f"{BEEF} Lena likes it.", f"{VEGAN} Tom wrote that."
    for contradicted, texts in ((0.92, (VEGAN, BEEF)), (0.985, (VEGAN, longer)), (0.985, (note, longer))):
        hardly = Model(lambda *_, chance=contradicted: (chance - 0.03, 0.0))
        surely = Model(lambda *_, chance=contradicted: (chance, 0.0))
        assert compare_texts(*texts, similarity=0.58, model=hardly).label != "conflict"
        assert compare_texts(*texts, similarity=0.58, model=surely).kind == "meaning"
    assert compare_texts(VEGAN, longer, similarity=0.58, model=Model(CONTRADICTS)).kind == "meaning"
    asked = Model(CONTRADICTS)
    assert compare_texts(VEGAN, longer.replace("Beef", "Still, beef"), similarity=0.58, model=asked).label != "conflict"
    assert asked.asked == []


def test_greetings_and_sentences_that_both_texts_have_are_not_asked_about() -> None:
    model = Model(CONTRADICTS)
    compare_texts("Thanks, Mel! I sold the boat.", "Thanks, Melanie! Lunch was good.", similarity=0.6, model=model)
    same = "The school canteen cooks vegan food only."
    compare_texts(f"{same} Otto stayed at home.", f"{same} Lena went for a walk.", similarity=0.6, model=model)
    assert model.asked == []


REFUTED = ("The support team never works on Sundays.", "On Sundays the support team works from home.")


def test_a_conflict_by_cues_is_none_if_the_model_does_not_find_it_likely() -> None:
    assert compare_texts(*REFUTED, similarity=0.8).label == "conflict"
    surely = Model(lambda *_: (0.05, 0.2))
    found = compare_texts(*REFUTED, similarity=0.8, model=surely)
    assert (found.label, found.kind, found.severity, found.cue) == ("similar", "", 0.0, "")
    assert found.probability == pytest.approx(0.95)
    assert compare_texts(*REFUTED, similarity=0.8, model=Model(lambda *_: (0.79, 0.2))).label == "similar"
    likely = Model(lambda *_: (0.81, 0.2))
    assert compare_texts(*REFUTED, similarity=0.8, model=likely) == compare_texts(*REFUTED, similarity=0.8)
    failing = Failing(ENTAILS)
    assert compare_texts(*REFUTED, similarity=0.8, model=failing) == compare_texts(*REFUTED, similarity=0.8)


def test_on_other_days_a_contradiction_is_a_change() -> None:
    days = {"left_date": datetime.date(2026, 5, 1), "right_date": datetime.date(2026, 6, 1)}
    found = compare_texts(VEGAN, BEEF, similarity=0.58, model=Model(CONTRADICTS), **days)
    assert (found.label, found.severity) == ("evolving", 0.0)


def test_on_other_days_what_says_the_same_is_no_duplicate() -> None:
    may, june = datetime.date(2026, 5, 1), datetime.date(2026, 6, 1)
    same = "The office opens at 8.", "The office starts its day at 8."
    assert compare_texts(*same, similarity=0.9, model=Model(ENTAILS)).label == "duplicate"
    found = compare_texts(*same, similarity=0.9, model=Model(ENTAILS), left_date=may, right_date=june)
    assert found.label == "similar"


def test_few_pairs_of_long_texts_are_asked() -> None:
    model = Model(lambda *_: (0.0, 0.0))
    left = " ".join(
        f"The school canteen cooks {food} stew for the children." for food in ("beef", "lamb", "pork", "fish")
    )
    right = " ".join(f"Vegan {food} is cooked by the school canteen." for food in ("curry", "soup", "pasta", "rice"))
    compare_texts(left, right, similarity=0.7, model=model)
    assert len(model.asked) == 2 * MAX_INFERRED_PAIRS
    # One contradiction among many statements is one of the texts.
    sees_fish = Model(lambda *both: (0.98, 0.0) if any("fish" in text for text in both) else (0.0, 0.0))
    assert compare_texts("The school canteen cooks fish.", right, similarity=0.7, model=sees_fish).kind == "meaning"


def test_a_model_confirms_a_duplicate_in_other_words() -> None:
    left, right = "Uma sits in the Warsaw office.", "Uma's desk is in our Warsaw office."
    assert compare_texts(left, right, similarity=0.9).label != "duplicate"
    found = compare_texts(left, right, similarity=0.9, model=Model(ENTAILS))
    assert (found.label, found.kind, found.model, found.severity) == ("duplicate", "duplicate", "oracle@1", 0.0)
    assert found.cue == "The language model oracle@1 finds that both say the same (probability 97 %)."
    assert compare_texts(right, left, similarity=0.9, model=Model(ENTAILS)).label == "duplicate"
    halfway = Model(lambda premise, _: (0.0, 0.97) if premise == left else (0.0, 0.4))
    assert compare_texts(left, right, similarity=0.9, model=halfway).label != "duplicate"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The bus takes 40 passengers.", "Up to 45 people fit on the bus."),
        ("Lessons start in September.", "In October the lessons begin."),
        ("The shop is open on Sundays.", "On a Sunday the shop's door is not open."),
        ("Uma sits in the Warsaw office.", "Uma's desk was in our Warsaw office."),
        ("Ana sends the parcels to Ben.", "Ben is who sends parcels to Ana."),
        ("The dog needs medicine.", "The dog needs its medicine every evening with food."),
    ],
)
def test_a_model_alone_never_makes_duplicates(left: str, right: str) -> None:
    assert compare_texts(left, right, similarity=0.9, model=Model(ENTAILS)).label != "duplicate"


def test_even_a_model_that_finds_all_texts_equal_makes_few_duplicates() -> None:
    pairs = load_pairs(PAIRS / "third.jsonl")
    outcomes = evaluate(pairs, similarities_by(WordLlama()), load_classifier(), Model(ENTAILS))
    made = [one.pair.label for one in outcomes if one.found.label == "duplicate" and one.found.model]
    assert made
    assert set(made) == {"duplicate"}


def test_a_model_that_fails_changes_nothing() -> None:
    model = Failing(CONTRADICTS)
    assert compare_texts(VEGAN, BEEF, similarity=0.58, model=model) == compare_texts(VEGAN, BEEF, similarity=0.58)
    assert len(model.asked) == 2


@settings(deadline=None, max_examples=examples(100))
@given(seed=st.integers(), file=st.sampled_from(("strangers", "wide")), place=st.integers(0, 300))
def test_texts_are_compared_the_same_from_both_sides(seed: int, file: str, place: int) -> None:
    def judge(premise: str, hypothesis: str) -> tuple[float, float]:
        share = (hash((seed, premise, hypothesis)) % 1_000) / 1_000
        return share, 1 - share

    pair = load_pairs(PAIRS / f"{file}.jsonl")[place]
    model = Model(judge)
    model.threshold = 0.5
    there = compare_texts(pair.left, pair.right, similarity=0.7, model=model)
    back = compare_texts(pair.right, pair.left, similarity=0.7, model=model)
    same = ("label", "kind", "subject", "severity", "probability", "model")
    assert [getattr(there, name) for name in same] == [getattr(back, name) for name in same]
    assert (there.left_statement, there.right_statement) == (back.right_statement, back.left_statement)
