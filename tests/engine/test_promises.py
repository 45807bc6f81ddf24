"""The promises of the design, over generated files, logs and memories.

The checks count whole strings with the real tokenizer; they share nothing with the engine but its types.
"""

import hashlib
import json
import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, Decision, Request
from tests.engine.cast import MARKER
from tests.engine.situations import (
    FOR_WANT_OF_ROOM,
    SEPARATORS,
    Situation,
    candidate_of,
    cap_of,
    expected_status,
    heading,
    included,
    lead_and_body,
    of,
    opened,
    situations,
    tighter,
    with_examples,
)

# --- 1. No overrun -------------------------------------------------------------------------------------------------


@with_examples
def test_the_text_never_counts_more_than_its_budget(situation: Situation) -> None:
    assembled = situation.assembled()
    assert assembled.tokens == situation.count(assembled.content)
    assert assembled.sha256 == hashlib.sha256(assembled.content.encode()).hexdigest()
    required = required_text(situation)
    if situation.count(required) > situation.request.budget:
        assert assembled.warnings == (WarningCode.BUDGET_EXCEEDED,)
        assert assembled.content == required
    else:
        assert assembled.warnings == ()
        assert assembled.tokens <= situation.request.budget
        assert assembled.content.startswith(required)


@with_examples
def test_no_section_counts_more_than_its_cap_and_together_they_are_the_whole(situation: Situation) -> None:
    assembled = situation.assembled()
    end = 0
    for section, result in zip(situation.profile.sections, assembled.sections, strict=True):
        assert result.cap == cap_of(section, situation.request.budget)
        counted = situation.count(assembled.content[: result.end]) - situation.count(assembled.content[:end])
        assert result.tokens == counted
        assert result.cap is None or result.tokens <= result.cap
        end = result.end
    assert sum(result.tokens for result in assembled.sections) == assembled.tokens


def required_text(situation: Situation) -> str:
    """The required sections alone: in `conversation`, each is one file."""
    return "\n\n".join(
        heading(section) + candidate.text.rstrip()
        for section in situation.profile.sections
        for candidate in of(situation, section)
        if section.required and candidate.text.strip() and not candidate.superseded_by
    )


# --- 2. Nothing silent ---------------------------------------------------------------------------------------------


@with_examples
def test_every_candidate_has_exactly_one_decision(situation: Situation) -> None:
    assembled = situation.assembled()
    given_in = sorted((candidate.section, candidate.ref) for candidate in situation.candidates)
    assert sorted((decision.section, decision.ref) for decision in assembled.decisions) == given_in
    for section, result in zip(situation.profile.sections, assembled.sections, strict=True):
        decided = [decision for decision in assembled.decisions if decision.section == section.key]
        assert (result.key, result.considered) == (section.key, len(decided))
        assert result.included == sum(decision.included for decision in decided)
        assert result.status == expected_status({decision.code.value for decision in decided})
    short_of_room = {"truncated", *FOR_WANT_OF_ROOM} & {decision.code.value for decision in assembled.decisions}
    assert assembled.truncated == bool(short_of_room)


@with_examples
def test_decisions_stand_in_order_of_sections_and_ranks_then_refs(situation: Situation) -> None:
    keys = [section.key for section in situation.profile.sections]
    decisions = situation.assembled().decisions
    assert list(decisions) == sorted(
        decisions,
        key=lambda decision: (
            (keys.index(decision.section), decision.rank is None, decision.rank or 0)
            + (("",) if decision.rank else (decision.ref,))
        ),
    )
    for key in keys:
        ranks = [decision.rank for decision in decisions if decision.section == key and decision.rank]
        assert ranks == list(range(1, len(ranks) + 1))


@with_examples
def test_the_tokens_of_what_is_in_add_up_to_the_whole(situation: Situation) -> None:
    assembled = situation.assembled()
    assert sum(decision.tokens for decision in assembled.decisions) == assembled.tokens
    end = 0
    for decision in included(assembled):
        assert decision.end is not None
        counted = situation.count(assembled.content[: decision.end]) - situation.count(assembled.content[:end])
        assert decision.tokens == counted
        end = decision.end
    for decision in assembled.decisions:
        if not decision.included:
            assert (decision.tokens, decision.start, decision.end) == (0, None, None)
        json.dumps(dict(decision.detail), allow_nan=False)


@with_examples
def test_the_text_is_nothing_but_headings_separators_and_the_items_at_their_places(situation: Situation) -> None:
    assembled = situation.assembled()
    content, parts = assembled.content, []
    for section, result in zip(situation.profile.sections, assembled.sections, strict=True):
        inside = [decision for decision in included(assembled) if decision.section == section.key]
        items = [content[decision.start : decision.end] for decision in inside]
        if items:
            parts.append(heading(section) + SEPARATORS.get(section.shape, "\n\n").join(items))
            assert content[result.start : result.end] == parts[-1]
        for decision, item in zip(inside, items, strict=True):
            check_item(situation, section, decision, item)
    assert content == "\n\n".join(parts)
    assert content == content.rstrip()


def check_item(situation: Situation, section: Section, decision: Decision, item: str) -> None:
    lead, body = lead_and_body(section, candidate_of(situation, decision))
    assert decision.tokens_full == situation.count(lead + body)
    if decision.code is not Code.TRUNCATED:
        assert decision.code is (Code.REQUIRED if section.required else Code.FITS)
        assert item == lead + body
        return
    kept = item.removeprefix(lead).removesuffix(MARKER)
    assert item == lead + kept + MARKER
    assert body.startswith(kept)
    assert 0 < len(kept) < len(body)
    assert kept == kept.rstrip()
    assert (decision.detail["kept_chars"], decision.detail["of_chars"]) == (len(kept), len(body))


@with_examples
def test_a_code_is_only_given_where_it_is_true(situation: Situation) -> None:
    threshold = situation.profile.similarity_threshold
    sections = {section.key: section for section in situation.profile.sections}
    decisions = situation.assembled().decisions
    for decision in decisions:
        candidate, section = candidate_of(situation, decision), sections[decision.section]
        assert (decision.code is Code.EMPTY) == (not candidate.text.strip())
        if decision.code is Code.SUPERSEDED:
            assert decision.detail["by"] == candidate.superseded_by
        elif decision.code is Code.FILTERED:
            assert not section.required
            assert {candidate.ref, candidate.ref[:-2], candidate.ref[-3]} & set(situation.request.exclude)
        elif decision.code is Code.RULE_EXCLUDED:
            assert not section.required
            assert "out" in candidate.labels.get("tag", ()) or section.key == "tools"
            assert decision.detail == {"rule": "c@3"}
        elif decision.code is Code.OUTRANKED:
            assert section.top_k is not None
            assert (decision.rank or 0) > section.top_k
        elif decision.code is Code.BELOW_RELEVANCE:
            assert candidate.similarity is None or candidate.similarity < threshold
        elif decision.code is Code.DUPLICATE:
            check_duplicate(situation, decision, candidate, decisions)
        elif decision.code is not Code.EMPTY:
            assert candidate.superseded_by is None
            assert decision.rank is not None
            assert section.top_k is None or decision.rank <= section.top_k


def check_duplicate(
    situation: Situation, decision: Decision, candidate: Candidate, decisions: tuple[Decision, ...]
) -> None:
    """The one that it names is in, is not the same row of the same section, and says the same."""
    kept = [other for other in decisions if other.included and other.ref == decision.detail["by"]]
    assert any(
        (other.section, other.ref) != (decision.section, decision.ref)
        and (other.ref == decision.ref or candidate_of(situation, other).text.split() == candidate.text.split())
        for other in kept
    )


# --- 3. Deterministic ----------------------------------------------------------------------------------------------


@given(situation=situations(), seed=st.integers(0, 99))
def test_the_order_of_arrival_changes_nothing(situation: Situation, seed: int) -> None:
    shuffled = list(situation.candidates)
    random.Random(seed).shuffle(shuffled)
    assert replace(situation, candidates=tuple(shuffled)).assembled() == situation.assembled()


# --- 4. Replayable -------------------------------------------------------------------------------------------------


@with_examples
def test_the_recorded_values_assemble_the_same_bytes_again(situation: Situation) -> None:
    recorded = json.dumps(
        {
            "request": situation.request.to_dict(),
            "profile": situation.profile.to_dict(),
            "candidates": [candidate.to_dict() for candidate in situation.candidates],
        },
        allow_nan=False,
    )
    read = json.loads(recorded)
    texts_of = [candidate.text for candidate in situation.candidates]
    again = Situation(
        Request.from_dict(read["request"]),
        Profile.from_dict(read["profile"]),
        tuple(Candidate.from_dict(*pair) for pair in zip(read["candidates"], texts_of, strict=True)),
    )
    assert again == situation
    assert again.assembled() == situation.assembled()


# --- 5. A misfit is skipped, not a stop ----------------------------------------------------------------------------


@with_examples
def test_what_was_left_out_for_want_of_room_had_none(situation: Situation) -> None:
    assembled = situation.assembled()
    if assembled.warnings:
        return
    end = 0
    for section, result in zip(situation.profile.sections, assembled.sections, strict=True):
        before, end = assembled.content[:end], result.end
        if section.shape in {"blocks", "turns"}:
            continue  # they have tests of their own, below
        if section.shape == "text" and section.key == "knowledge" and situation.profile.name == "librarian":
            continue  # stands between the blocks and the turns, whose room is kept
        decided = [decision for decision in assembled.decisions if decision.section == section.key]
        check_misfits(situation, section, before, assembled.content, decided)


def check_misfits(situation: Situation, section: Section, before: str, content: str, decided: list[Decision]) -> None:
    """At its turn, after what had got in until then, each misfit was too long by what its decision says."""
    limit, code = tighter(section, situation.count(before), situation.request.budget)
    got_in = [decision for decision in decided if decision.included]
    so_far = before
    for decision in decided:
        lead, body = lead_and_body(section, candidate_of(situation, decision))
        opening = opened(section, before, so_far)
        if decision.code.value in FOR_WANT_OF_ROOM:
            assert decision.code.value == code
            excess = situation.count(so_far + opening + lead + body) - limit
            assert excess > 0
            assert decision.detail["needed"] == excess
        if decision.rank == 1 and not got_in and decision.code.value in FOR_WANT_OF_ROOM and len(body) > 1:
            least = len(body) - len(body.lstrip()) + 1
            assert situation.count(so_far + opening + lead + body[:least] + MARKER) > limit or least == len(body)
        if decision.code is Code.TRUNCATED:
            assert (decision.rank, got_in) == (1, [decision])
            assert situation.count(so_far + opening + lead + body) > limit
            kept = int(decision.detail["kept_chars"] or 0)
            longer = [cut for cut in range(kept + 1, min(kept + 9, len(body))) if not body[cut - 1].isspace()]
            for cut in longer:
                assert situation.count(so_far + opening + lead + body[:cut] + MARKER) > limit
        if decision.code is Code.FITS:  # a cut comes last: all others have had their chance before it
            so_far = content[: decision.end]


@with_examples
def test_blocks_and_turns_left_out_for_want_of_room_have_none_in_the_end_either(situation: Situation) -> None:
    assembled = situation.assembled()
    if assembled.warnings:
        return
    budget, content = situation.request.budget, assembled.content
    # Room in a contest is counted item by item, which `chars4` rounds up each time.
    rounding = len(assembled.decisions) + len(assembled.sections) if situation.request.tokenizer == "chars4" else 0
    for section, result in zip(situation.profile.sections, assembled.sections, strict=True):
        if section.shape not in {"blocks", "turns"}:
            continue
        decided = [decision for decision in assembled.decisions if decision.section == section.key]
        got_in = [decision for decision in decided if decision.included]
        for decision in decided:
            if decision.code is Code.OVER_TOTAL_BUDGET:
                item = "".join(lead_and_body(section, candidate_of(situation, decision)))
                gap = "\n\n" if got_in else "\n\n" + heading(section)
                longer = content[: result.end] + gap + item + content[result.end :]
                assert situation.count(longer) + rounding > budget
                assert int(decision.detail["needed"] or 0) > 0
            if decision.code is Code.OVER_SECTION_BUDGET:
                assert result.cap is not None
                assert int(decision.detail["needed"] or 0) > 0
            if decision.code is Code.TRUNCATED:
                assert section.overflow == "cut"
                assert got_in == [decision]
                assert decision.rank == 1


@with_examples
def test_blocks_stand_by_score_and_turns_in_the_order_they_were_said(situation: Situation) -> None:
    assembled = situation.assembled()
    for section in situation.profile.sections:
        inside = [decision for decision in included(assembled) if decision.section == section.key]
        if section.shape == "blocks":
            scores = [decision.score or 0.0 for decision in inside]
            assert scores == sorted(scores, reverse=True)
        if section.shape in {"turns", "sequence"}:
            positions = [candidate_of(situation, decision).position or 0 for decision in inside]
            assert positions == sorted(positions)
