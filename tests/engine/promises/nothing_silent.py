"""Promise 2: every candidate has exactly one decision, and what it says of the text is true."""

import json

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.types import Decision
from tests.engine.factories import MARKER
from tests.engine.reference_format import (
    FOR_WANT_OF_ROOM,
    HITS,
    SHORT,
    cut_short,
    expected_status,
    expected_wholly,
    heading,
    lead_and_body,
    says_the_same,
    separator,
    stood,
    whole_item,
)
from tests.engine.situations import Settled


def every_candidate_has_one_decision_and_it_is_true(settled: Settled) -> None:
    check_that_all_are_decided(settled)
    check_the_order(settled)
    check_the_places(settled)
    check_the_text(settled)
    for section in settled.situation.profile.sections:
        for decision in settled.of(section):
            check_the_code(settled, section, decision)


def check_that_all_are_decided(settled: Settled) -> None:
    situation, decisions = settled.situation, settled.assembled.decisions
    given_in = sorted((candidate.section, candidate.ref) for candidate in situation.candidates)
    assert sorted((decision.section, decision.ref) for decision in decisions) == given_in
    for section, result in zip(situation.profile.sections, settled.assembled.sections, strict=True):
        decided = settled.of(section)
        assert (result.key, result.considered) == (section.key, len(decided))
        assert result.included == sum(decision.included for decision in decided)
        assert result.status == expected_status({decision.code.value for decision in decided})
    less_than_whole = {"truncated", "compacted", "summarised", *FOR_WANT_OF_ROOM}
    decided_codes = {decision.code.value for decision in decisions}
    assert settled.assembled.truncated == (not less_than_whole.isdisjoint(decided_codes))


def check_the_order(settled: Settled) -> None:
    """By section and rank, those without a rank by ref."""
    keys = [section.key for section in settled.situation.profile.sections]
    decisions = settled.assembled.decisions
    assert list(decisions) == sorted(
        decisions,
        key=lambda decision: (
            (keys.index(decision.section), decision.rank is None, decision.rank or 0)
            + (("",) if decision.rank else (decision.ref,))
        ),
    )
    for section in settled.situation.profile.sections:
        ranks = [decision.rank for decision in settled.of(section) if decision.rank]
        assert ranks == list(range(1, len(ranks) + 1))
        if section.shape == "lines":
            pinned = [settled.candidate(decision).pinned for decision in settled.of(section) if decision.rank]
            assert pinned == sorted(pinned, reverse=True)
        inside = settled.inside(section)
        if section.shape == "blocks":
            order = [(not settled.candidate(one).pinned, -round(one.score or 0.0, 4)) for one in inside]
            assert order == sorted(order)
        if section.shape in {"turns", "sequence"}:
            positions = [settled.candidate(decision).position or 0 for decision in inside]
            assert positions == sorted(positions)


def check_the_places(settled: Settled) -> None:
    """The tokens of what is in add up to the whole."""
    content, count, end = settled.assembled.content, settled.situation.count, 0
    for section in settled.situation.profile.sections:
        for decision in settled.inside(section):
            assert decision.end is not None
            assert decision.tokens == count(content[: decision.end]) - count(content[:end])
            end = decision.end
    assert sum(decision.tokens for decision in settled.assembled.decisions) == settled.assembled.tokens
    for decision in settled.assembled.decisions:
        if not decision.included:
            assert (decision.tokens, decision.start, decision.end) == (0, None, None)
        json.dumps(dict(decision.detail), allow_nan=False)


def check_the_text(settled: Settled) -> None:
    """Nothing but headings, separators and the items at their places."""
    content, parts = settled.assembled.content, []
    for section, result in zip(settled.situation.profile.sections, settled.assembled.sections, strict=True):
        inside = settled.inside(section)
        items = [content[decision.start : decision.end] for decision in inside]
        if items:
            parts.append(heading(section) + separator(section).join(items))
            assert content[result.start : result.end] == parts[-1]
        for decision, item in zip(inside, items, strict=True):
            check_item(settled, section, decision, item)
    assert content == "\n\n".join(parts)
    assert content == content.rstrip()


def check_item(settled: Settled, section: Section, decision: Decision, item: str) -> None:
    candidate, count = settled.candidate(decision), settled.situation.count
    lead, body = lead_and_body(section, candidate)
    assert decision.tokens_full == count(lead + body)
    if decision.code.value in SHORT:
        check_short(settled, section, decision, item)
    elif decision.code is Code.TRUNCATED:
        kept = body[: decision.detail["kept_chars"]]
        assert item == cut_short(section, candidate, len(kept))
        assert MARKER in item[-len(MARKER) - 400 :]
        assert 0 < len(kept) < len(body)
        assert kept == kept.rstrip()
        assert (decision.detail["kept_chars"], decision.detail["of_chars"]) == (len(kept), len(body))
        assert section.overflow == "cut"
    else:
        code, rule = expected_wholly(settled.situation.request, section, candidate)
        assert decision.code.value == code
        assert code != "rule_included" or decision.detail == {"rule": rule}
        assert item == lead + body


def check_short(settled: Settled, section: Section, decision: Decision, item: str) -> None:
    """The summary that came in, or sentences of the turn: not more than a third of the whole."""
    candidate, count = settled.candidate(decision), settled.situation.count
    lead, body = lead_and_body(section, candidate)
    assert section.overflow != "drop"
    assert decision.tokens_full >= 60
    steps = decision.detail["steps"]
    assert steps[-1]["after"] == count(item)
    assert count(item.removeprefix(lead)) <= decision.tokens_full // 3 - count(lead)
    if decision.code is Code.SUMMARISED:
        assert section.shape in HITS
        assert candidate.summary is not None
        assert item == "".join(lead_and_body(section, candidate, candidate.summary.text))
        assert (steps[-1]["step"], decision.detail["model"]) == ("summarise", "of-tests")
    else:
        assert section.shape == "turns"
        assert (decision.rank or 0) > 4
        assert steps[-1]["step"] == "compact"
        assert is_of(item.removeprefix(lead), body)


def is_of(short: str, body: str) -> bool:
    """Whether the pieces between the gaps stand in the text, one after the other."""
    place = 0
    for piece in short.replace(" …\n", " … ").split(" … "):
        place = body.find(piece.strip(), place)
        if place < 0:
            return False
        place += len(piece.strip())
    return True


def check_the_code(settled: Settled, section: Section, decision: Decision) -> None:
    """A code is only given where it is true."""
    request, candidate = settled.situation.request, settled.candidate(decision)
    unversioned = candidate.ref.partition("@")[0]
    assert (decision.code is Code.EMPTY) == (not candidate.text.strip())
    match decision.code:
        case Code.SUPERSEDED:
            assert decision.detail["by"] == candidate.superseded_by
        case Code.EXPIRED:
            assert decision.detail["reason"] == candidate.retired
        case Code.FILTERED:
            assert not section.required
            assert {candidate.ref, unversioned, unversioned.rpartition(":")[2]} & set(request.exclude)
        case Code.RULE_EXCLUDED:
            assert not section.required
            assert (decision.code.value, decision.detail["rule"]) == expected_wholly(request, section, candidate)
        case Code.OUTRANKED:
            assert section.top_k is not None
            assert (decision.rank or 0) > section.top_k
        case Code.BELOW_RELEVANCE:
            threshold = settled.situation.profile.similarity_threshold
            assert candidate.similarity is None or candidate.similarity < threshold
            assert not candidate.pinned
        case Code.DUPLICATE:
            check_duplicate(settled, decision)
        case Code.EMPTY:
            pass
        case _:
            assert candidate.superseded_by is None
            assert candidate.retired is None
            assert stood(settled.situation.profile, decision)
            assert decision.tokens_full == settled.situation.count(whole_item(section, candidate))


def check_duplicate(settled: Settled, decision: Decision) -> None:
    """The one that it names is in, is not the same row of the same section, and says the same."""
    by, candidate = decision.detail["by"], settled.candidate(decision)
    kept = [other for other in settled.assembled.decisions if other.included and other.ref == by]
    of_document = {f"document:{candidate.ref.partition(':')[2].partition('#')[0]}"}
    assert any(
        (other.section, other.ref) != (decision.section, decision.ref)
        and (says_the_same(settled.candidate(other), candidate) or other.ref in of_document)
        for other in kept
    )
