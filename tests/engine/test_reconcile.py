"""Known conflicts are reconciled: one side stays, or both are marked; a table, and promises that hold for any input."""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine import assemble as engine
from assembly.engine.absent_winners import CUT_CODES
from assembly.engine.assemble import assemble
from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import ConflictMode, Profile, Section, Weights
from assembly.engine.reconcile import DECIDED_MARK, MARKS, OTHER_MARK, TOLD_STATEMENTS_SINCE
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import ENGINE_VERSION, Candidate, EngineRequest, EngineResult
from tests.engine.factories import NOW

IDENTITY = Section("identity", "Identity", "L1", "agent_files", "text", required=True)
GOALS = Section("goals", "Goals", "L2", "team_files", "text")
FILES = Section("files", "Team Rules", "L2", "team_files", "blocks")
MINE = Section("mine", "Mine", "L5", "agent_memories", "lines")
OURS = Section("ours", "Ours", "L4", "team_memories", "lines", cap=400)
EVENTS = Section("events", "Events", "L3", "recent_events", "blocks")
SECTIONS = (IDENTITY, GOALS, FILES, EVENTS, OURS, MINE)
PROFILE = Profile("test", 1, SECTIONS, conflicts="mark")
MARK = f"({MARKS['number']})"


def item(section: Section, name: str, text: str = "", **facts: Any) -> Candidate:
    measures = {"relevance": 0.5, "credibility": facts.pop("credibility", 0.5)}
    facts = {"occurred_at": NOW - dt.timedelta(days=1), "kind": "fact", "score": 0.5, "measures": measures, **facts}
    return Candidate(f"{section.key}:{name}@1", section.key, text or f"The line opens at {name}.", **facts)


def conflict(left: Candidate, right: Candidate, **facts: Any) -> Reconciliation:
    facts = {"kind": "number", "severity": 0.8, "similarity": 0.9, **facts}
    return Reconciliation(id="one", left=left.ref, right=right.ref, **facts)


def run(
    candidates: Sequence[Candidate],
    *known: Reconciliation,
    budget: int = 2_000,
    engine_version: int = ENGINE_VERSION,
    **profile: Any,
) -> EngineResult:
    request = EngineRequest(budget, "", "cl100k_base", NOW, reconciliations=known, engine_version=engine_version)
    return assemble(request, replace(PROFILE, **profile), candidates, get_tokenizer("cl100k_base"))


def codes(result: EngineResult) -> dict[str, str]:
    return {decision.ref.partition("@")[0]: decision.code.value for decision in result.decisions}


FILE, EVENT, OWN, TEAM = item(FILES, "8"), item(EVENTS, "9"), item(MINE, "10"), item(OURS, "11")
TRUSTED = item(OURS, "12", credibility=0.9)
NEWER = item(OURS, "13", occurred_at=NOW)
TIE = item(OURS, "14")


@pytest.mark.parametrize(
    ("left", "right", "stays"),
    [
        (FILE, EVENT, FILE), (OWN, FILE, FILE), (EVENT, OWN, OWN), (OWN, TEAM, OWN), (TEAM, TRUSTED, TRUSTED),
        (NEWER, TEAM, NEWER), (NEWER, TRUSTED, TRUSTED), (TIE, TEAM, TEAM),
    ],
    ids=["library first", "library before experience", "experience before workshop", "lower ref", "credibility",
         "newer", "credibility before age", "lower ref of equals"],
)  # fmt: skip
@pytest.mark.parametrize("severity", [0.29, 0.3])
def test_scope_then_credibility_then_age_decide(
    left: Candidate, right: Candidate, stays: Candidate, severity: float
) -> None:
    result = run([left, right], conflict(left, right, severity=severity))
    (lost,) = [decision for decision in result.decisions if not decision.included]
    assert lost.code is Code.CONFLICT_LOST
    facts = {
        True: ("flag", 0.6, "Major conflicts require human review"),
        False: ("precedence", 0.8, "Minor conflicts, use source precedence"),
    }
    assert lost.detail["by"] == stays.ref
    assert tuple(lost.detail[name] for name in ("strategy", "confidence", "reasoning")) == facts[severity >= 0.3]
    assert (MARK in result.content) == (severity >= 0.3)
    assert (WarningCode.CONFLICT_FLAGGED in result.warnings) == (severity >= 0.3)


def test_the_sensitivity_of_a_profile_makes_minor_conflicts_major() -> None:
    known = conflict(FILE, OWN, severity=0.2)
    assert MARK not in run([FILE, OWN], known).content
    assert MARK in run([FILE, OWN], known, conflict_sensitivity=1.6).content


def test_a_mark_precedes_the_text_in_every_shape() -> None:
    content = run([FILE, EVENT], conflict(FILE, EVENT), conflicts="tell").content
    assert f"{MARK}\nThe line opens at 8." in content
    assert f"{MARK}\nThe line opens at 9." in content
    assert f"- [fact] {MARK} The line opens at 10." in run([FILE, OWN], conflict(FILE, OWN), conflicts="tell").content
    unknown = run([FILE, OWN], conflict(FILE, OWN, kind="else"))
    assert f"({OTHER_MARK})\nThe line" in unknown.content


@pytest.mark.parametrize(
    ("mode", "told", "marks"), [("mark", {"files:8"}, 1), ("withhold", set(), 0), ("tell", {"files:8", "mine:10"}, 2)]
)
def test_a_profile_says_what_becomes_of_a_major_conflict(mode: ConflictMode, told: set[str], marks: int) -> None:
    result = run([FILE, OWN], conflict(FILE, OWN), conflicts=mode)
    included = {decision.ref.partition("@")[0] for decision in result.decisions if decision.included}
    assert included == told
    assert result.content.count(MARK) == marks
    assert result.warnings == (WarningCode.CONFLICT_FLAGGED,)


def test_a_profile_that_is_off_and_a_context_without_conflicts_are_as_they_were() -> None:
    plain = run([FILE, OWN])
    assert run([FILE, OWN], conflict(FILE, OWN), conflicts="off") == plain
    assert run([FILE, OWN], conflict(FILE, TEAM)) == plain, "the other side was not offered"
    assert plain.warnings == ()


@pytest.mark.parametrize(
    ("facts", "warns"),
    [
        ({}, True), ({"severity": 0.1}, True), ({"resolution": "both", "decided_by": "Ada"}, False),
        ({"kind": "duplicate"}, False),
    ],
    ids=["major", "minor", "both hold", "duplicate"],
)  # fmt: skip
def test_a_profile_that_warns_leaves_the_content_as_it_is(facts: dict[str, Any], warns: bool) -> None:
    plain = run([FILE, OWN])
    result = run([FILE, OWN], conflict(FILE, OWN, **facts), conflicts="warn")
    assert (result.content, result.decisions) == (plain.content, plain.decisions)
    assert result.warnings == ((WarningCode.CONFLICT_FLAGGED,) if warns else ())


def test_a_profile_that_warns_leaves_out_what_a_person_decided_against() -> None:
    decided = run([FILE, OWN], conflict(FILE, OWN, resolution="left", decided_by="Ada"), conflicts="warn")
    assert codes(decided) == {"files:8": "fits", "mine:10": "conflict_lost"}
    assert decided.warnings == ()
    goals = item(GOALS, "goals", "Open at 8.")
    whole = run([goals, OWN], conflict(goals, OWN, resolution="right", decided_by="Ada"), conflicts="warn")
    assert set(codes(whole).values()) == {"fits"}
    assert "disputed" not in whole.content
    assert whole.warnings == (WarningCode.CONFLICT_FLAGGED,)


def test_a_profile_that_warns_says_nothing_of_a_minor_conflict_with_a_side_that_found_no_room() -> None:
    long = item(FILES, "8", "The line opens at 8. " * 400)
    for severity, warnings in ((0.1, ()), (0.5, (WarningCode.CONFLICT_FLAGGED,))):
        result = run([long, OWN], conflict(long, OWN, severity=severity), conflicts="warn", budget=100)
        assert [decision.included for decision in result.decisions].count(True) == 1
        assert tuple(code for code in result.warnings if code is WarningCode.CONFLICT_FLAGGED) == warnings


@pytest.mark.parametrize("resolution", ["left", "right"])
def test_what_a_person_decided_holds_without_a_mark(resolution: Any) -> None:
    known = conflict(FILE, OWN, resolution=resolution, decided_by="Ada", decided_at="2026-11-24T10:00:00+00:00")
    result = run([FILE, OWN], known)
    loser = {"left": "mine:10", "right": "files:8"}[resolution]
    assert codes(result)[loser] == "conflict_lost"
    (lost,) = [decision for decision in result.decisions if not decision.included]
    assert (lost.detail["strategy"], lost.detail["confidence"]) == ("user_choice", 1.0)
    assert lost.detail["reasoning"] == "Ada decided on 2026-11-24"
    assert "disputed" not in result.content
    assert result.warnings == ()


@pytest.mark.parametrize("resolution", ["both", "edited"])
def test_both_stand_if_a_person_said_so(resolution: Any) -> None:
    result = run([FILE, OWN], conflict(FILE, OWN, resolution=resolution))
    assert set(codes(result).values()) == {"fits"}
    assert "disputed" not in result.content


def test_of_two_texts_that_say_the_same_the_better_one_stays() -> None:
    better = item(MINE, "ten", similarity=0.9)
    weaker = item(OURS, "10 o'clock", similarity=0.5)
    pinned = item(OURS, "10 sharp", pinned=True)
    result = run([better, weaker], conflict(better, weaker, kind="duplicate", severity=0))
    assert codes(result) == {"mine:ten": "fits", "ours:10 o'clock": "duplicate"}
    (lost,) = [decision for decision in result.decisions if not decision.included]
    assert (lost.detail["by"], lost.detail["strategy"], lost.detail["confidence"]) == (better.ref, "merge", 1.0)
    assert result.warnings == ()
    assert codes(run([better, pinned], conflict(better, pinned, kind="duplicate")))["mine:ten"] == "duplicate"


def test_the_conflicts_of_a_duplicate_are_those_of_the_text_that_stays() -> None:
    same = item(OURS, "8 o'clock")
    twins = conflict(OWN, same, kind="duplicate")
    disputed = replace_id(conflict(same, FILE), "two")
    result = run([FILE, OWN, same], twins, disputed)
    assert codes(result) == {"files:8": "fits", "mine:10": "conflict_lost", "ours:8 o'clock": "duplicate"}
    assert result.content.count(MARK) == 1


def test_decisions_on_duplicates_that_go_in_a_circle_end() -> None:
    first, second, third, other = (item(FILES, name) for name in ("1", "2", "3", "4"))
    decided = {"kind": "duplicate", "resolution": "left", "decided_by": "Ada"}
    circle = [
        replace_id(conflict(left, right, **decided), str(number))
        for number, (left, right) in enumerate([(first, second), (second, third), (third, first)])
    ]
    result = run([first, second, third, other], *circle, conflict(first, other))
    assert codes(result) == {"files:1": "duplicate", "files:2": "duplicate", "files:3": "duplicate", "files:4": "fits"}
    assert result.warnings == ()


def replace_id(known: Reconciliation, id_: str) -> Reconciliation:
    return Reconciliation(**{**known.to_dict(), "id": id_})


def test_what_is_never_left_out_wins_or_both_stand_with_a_warning() -> None:
    identity = item(IDENTITY, "identity", "I open at 7.")
    goals = item(GOALS, "goals", "Open at 8.")
    result = run([identity, FILE], conflict(identity, FILE))
    assert codes(result) == {"identity:identity": "required", "files:8": "conflict_lost"}
    assert result.content.startswith("## Identity\nI open at 7.")
    result = run([goals, OWN], conflict(goals, OWN, resolution="right", decided_by="Ada"))
    assert set(codes(result).values()) == {"fits"}
    assert f"({DECIDED_MARK}) The line opens at 10." in result.content
    assert result.warnings == (WarningCode.CONFLICT_FLAGGED,)
    for mode in ("mark", "withhold", "tell"):
        result = run([identity, goals], conflict(identity, goals), conflicts=mode)
        assert set(codes(result).values()) == {"required", "fits"}
        assert f"{MARK}\nOpen at 8." in result.content
        assert result.warnings == (WarningCode.CONFLICT_FLAGGED,)
    minor = run([identity, goals], conflict(identity, goals, severity=0.1))
    assert minor.warnings == (WarningCode.CONFLICT_FLAGGED,)


def test_an_item_that_may_not_be_included_beats_nobody() -> None:
    gone = item(FILES, "8", superseded_by="files:9@1")
    assert codes(run([gone, OWN], conflict(gone, OWN))) == {"files:8": "superseded", "mine:10": "fits"}
    request = EngineRequest(2_000, "", "cl100k_base", NOW, exclude=("files:8",), reconciliations=(conflict(FILE, OWN),))
    assert codes(assemble(request, PROFILE, [FILE, OWN], get_tokenizer("cl100k_base")))["mine:10"] == "fits"


def test_a_winner_without_room_leaves_it_to_the_other_side() -> None:
    long = item(FILES, "8", "The line opens at 8. " * 200)
    sections = (IDENTITY, GOALS, replace(FILES, overflow="drop"), EVENTS, OURS, MINE)
    result = run([long, OWN], conflict(long, OWN), budget=200, sections=sections)
    assert codes(result) == {"files:8": "conflict_lost", "mine:10": "fits"}
    assert f"{MARK} The line opens at 10." in result.content
    assert run([long], budget=200, sections=sections).tokens == 0, "it finds no room by itself either"


SHORT_GOALS = (IDENTITY, replace(GOALS, cap=100), FILES, EVENTS, OURS, MINE)
DROPPED_GOALS = (IDENTITY, replace(GOALS, cap=100, overflow="drop"), FILES, EVENTS, OURS, MINE)
STATED = "The line opens at 8."
KNOWN: list[tuple[dict[str, Any], str, list[WarningCode]]] = [
    ({"kind": "duplicate"}, "", []),
    ({"severity": 0.1}, "", [WarningCode.CONFLICT_FLAGGED]),
    ({}, f"{MARK} ", [WarningCode.CONFLICT_FLAGGED]),
]


def goals_with(statement_at: int, **facts: Any) -> tuple[Candidate, Reconciliation]:
    """Return long goals that have the statement after so many words, and their conflict with OWN."""
    before = "word " * statement_at
    goals = item(GOALS, "long", f"{before}{STATED}" + " word" * (3_000 - statement_at))
    start = goals.text.index(STATED)
    return goals, conflict(goals, OWN, left_span=(start, start + len(STATED)), **facts)


@pytest.mark.parametrize(("facts", "mark", "warnings"), KNOWN, ids=["duplicate", "minor", "major"])
def test_a_whole_text_whose_statement_was_cut_away_leaves_it_to_the_other_side(
    facts: dict[str, Any], mark: str, warnings: list[WarningCode]
) -> None:
    goals, known = goals_with(2_000, **facts)
    result = run([goals, OWN], known, sections=SHORT_GOALS)
    assert codes(result) == {"goals:long": "truncated", "mine:10": "fits"}
    assert f"- [fact] {mark}The line opens at 10." in result.content
    assert list(result.warnings) == warnings
    before = run([goals, OWN], known, sections=SHORT_GOALS, engine_version=TOLD_STATEMENTS_SINCE - 1)
    lost = "duplicate" if known.is_duplicate else "conflict_lost"
    assert codes(before) == {"goals:long": "truncated", "mine:10": lost}


@pytest.mark.parametrize("facts", [facts for facts, *_ in KNOWN], ids=["duplicate", "minor", "major"])
def test_a_text_that_was_cut_after_its_statement_still_wins(facts: dict[str, Any]) -> None:
    goals, known = goals_with(20, **facts)
    result = run([goals, OWN], known, sections=SHORT_GOALS)
    assert codes(result) == {
        "goals:long": "truncated",
        "mine:10": "duplicate" if known.is_duplicate else "conflict_lost",
    }
    assert STATED in result.content


def test_a_cut_text_of_which_the_statement_is_not_known_leaves_it_to_the_other_side() -> None:
    goals, known = goals_with(2_000)
    assert codes(run([goals, OWN], conflict(goals, OWN), sections=SHORT_GOALS))["mine:10"] == "fits"
    twin = item(OURS, "8 sharp")
    same = conflict(twin, goals, kind="duplicate")
    result = run([goals, OWN, twin], same, conflict(twin, OWN), sections=SHORT_GOALS)
    assert "The line opens at" in result.content
    assert known.between(twin.ref, OWN.ref).left_span == ()


def test_a_block_whose_statement_was_cut_away_gives_its_place_to_the_other_side() -> None:
    long = item(FILES, "long", "The line is long. " * 600 + STATED)
    sections = (IDENTITY, GOALS, replace(FILES, cap=100), EVENTS, OURS, MINE)
    start = long.text.index(STATED)
    known = conflict(long, OWN, left_span=(start, start + len(STATED)))
    assert codes(run([long, OWN], known, sections=sections)) == {"files:long": "conflict_lost", "mine:10": "fits"}
    before = run([long, OWN], known, sections=sections, engine_version=TOLD_STATEMENTS_SINCE - 1)
    assert codes(before) == {"files:long": "truncated", "mine:10": "conflict_lost"}


@pytest.mark.parametrize(("facts", "mark", "warnings"), KNOWN, ids=["duplicate", "minor", "major"])
def test_a_whole_text_without_room_leaves_it_to_the_other_side(
    facts: dict[str, Any], mark: str, warnings: list[WarningCode]
) -> None:
    goals, known = goals_with(20, **facts)
    result = run([goals, OWN], known, sections=DROPPED_GOALS)
    assert codes(result) == {"goals:long": "over_section_budget", "mine:10": "fits"}
    assert f"- [fact] {mark}The line opens at 10." in result.content
    assert set(result.warnings) <= set(warnings)
    before = run([goals, OWN], known, sections=DROPPED_GOALS, engine_version=TOLD_STATEMENTS_SINCE - 1)
    assert before.tokens == 0


def test_after_a_decision_nothing_takes_the_place_of_what_was_cut_away() -> None:
    goals, known = goals_with(2_000, resolution="left", decided_by="Ada")
    for sections in (SHORT_GOALS, DROPPED_GOALS):
        assert codes(run([goals, OWN], known, sections=sections))["mine:10"] == "conflict_lost"


def test_a_fault_in_reconciliation_leaves_the_context_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run([FILE, OWN])

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(engine, "reconcile", fail)
    result = run([FILE, OWN], conflict(FILE, OWN))
    assert result.content == plain.content
    assert result.warnings == (WarningCode.COHERENCE_FAILURE,)


def test_coherence_below_the_minimum_is_a_failure() -> None:
    result = run([FILE], coherence_min=0.5, weights=Weights())
    assert result.warnings == (WarningCode.COHERENCE_FAILURE,)
    assert run([FILE], coherence_min=0.0).warnings == ()


def test_a_request_is_restored_with_its_reconciliations() -> None:
    known = conflict(
        FILE, OWN, resolution="left", decided_by="Ada", decided_at="2026-11-24", cue="8 and 10", left_span=(0, 20)
    )
    request = EngineRequest(10, "", "cl100k_base", NOW, reconciliations=(known, conflict(FILE, TEAM)))
    assert EngineRequest.from_dict(json.loads(json.dumps(request.to_dict()))) == request
    assert "reconciliations" not in EngineRequest(10, "", "cl100k_base", NOW).to_dict()


KINDS = [*MARKS, "duplicate"]


@st.composite
def runs(draw: st.DrawFn) -> tuple[EngineRequest, Profile, list[Candidate]]:
    chance = Random(draw(st.integers(0, 100_000)))
    candidates = []
    for section in SECTIONS:
        for number in range(min(chance.randrange(5), 1 if section.shape == "text" else 5)):
            text = f"The line {section.key} {number} opens at {number}. " * chance.choice([1, 1, 3, 20])
            candidates.append(
                item(
                    section,
                    str(number),
                    text,
                    credibility=chance.choice([0.1, 0.5, 0.9]),
                    similarity=chance.random(),
                    pinned=chance.random() < 0.1,
                    superseded_by="x" if chance.random() < 0.1 else None,
                )
            )
    known = []
    for number in range(draw(st.integers(0, 12))):
        if len(candidates) < 2:
            break
        left, right = chance.sample(candidates, 2)
        known.append(
            Reconciliation(
                str(number),
                left.ref,
                right.ref,
                chance.choice(KINDS),
                chance.choice([0.1, 0.5, 0.9]),
                0.9,
                resolution=chance.choice(["", "", "", "left", "right", "both"]),
            )
        )
    request = EngineRequest(
        draw(st.sampled_from([0, 60, 150, 400, 5_000])), "", "cl100k_base", NOW, reconciliations=tuple(known)
    )
    profile = replace(
        PROFILE,
        sections=draw(st.sampled_from([SECTIONS, SHORT_GOALS, DROPPED_GOALS])),
        conflicts=draw(st.sampled_from(get_args(ConflictMode))),
        deduplicate=draw(st.booleans()),
        over_budget=draw(st.sampled_from([(), ("drop", "compact")])),
    )
    return request, profile, candidates


@given(given_run=runs(), seed=st.integers(0, 1_000))
def test_no_major_conflict_is_told_without_a_mark(
    given_run: tuple[EngineRequest, Profile, list[Candidate]], seed: int
) -> None:
    request, profile, candidates = given_run
    tokenizer = get_tokenizer("cl100k_base")
    result = assemble(request, profile, candidates, tokenizer)
    check_the_budget(request, result)
    if profile.conflicts != "off":
        check_the_pairs(request, profile, candidates, result)
    if profile.conflicts == "warn" and not any(one.resolution for one in request.reconciliations):
        assert assemble(request, replace(profile, conflicts="off"), candidates, tokenizer).content == result.content
    shuffled, known = candidates[:], list(request.reconciliations)
    Random(seed).shuffle(shuffled)
    Random(seed).shuffle(known)
    again = assemble(replace(request, reconciliations=tuple(known)), profile, shuffled, tokenizer)
    assert again == result


def check_the_budget(request: EngineRequest, result: EngineResult) -> None:
    assert result.tokens == get_tokenizer("cl100k_base").count(result.content)
    if WarningCode.BUDGET_EXCEEDED not in result.warnings:
        assert result.tokens <= request.budget


def check_the_pairs(
    request: EngineRequest, profile: Profile, candidates: list[Candidate], result: EngineResult
) -> None:
    by_ref = {decision.ref: decision for decision in result.decisions}
    shapes = {section.key: section for section in profile.sections}
    for known in request.reconciliations:
        sides = [by_ref[ref] for ref in (known.left, known.right)]
        if not all(side.included for side in sides):
            continue
        fixed = [shapes[side.section].shape == "text" for side in sides]
        strategy = known.strategy()
        if profile.conflicts == "warn":
            is_contradiction = not known.is_duplicate and known.resolution != "both"
            assert not is_contradiction or WarningCode.CONFLICT_FLAGGED in result.warnings
        elif strategy == "flag":
            assert WarningCode.CONFLICT_FLAGGED in result.warnings
            for side in sides:
                assert side.start is not None
                is_marked = result.content[side.start :].startswith("(disputed") or "(disputed" in _line(result, side)
                assert is_marked or shapes[side.section].required
            assert profile.conflicts == "tell" or any(fixed)
        elif known.resolution in {"left", "right"}:
            assert fixed[known.resolution == "left"]
        elif strategy in {"merge", "precedence"}:
            was_cut = any(is_fixed and side.code in CUT_CODES for is_fixed, side in zip(fixed, sides, strict=True))
            assert all(fixed) or was_cut


def _line(result: EngineResult, side: Any) -> str:
    return result.content[side.start : side.end].split("\n", 1)[0]
