"""What engine version 6 adds holds for any profile: levels, scopes, tags, marks, one copy of each text, the note."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.assemble import FAILURE_NOTE, assemble
from assembly.engine.codes import Code, WarningCode
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.profile import CutMark, Delimiter, Profile, Section, Weights
from assembly.engine.rendering import QUOTED_ORIGINS, closing_text, heading_text
from assembly.engine.scopes import SCOPES
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import (
    LEVEL_PREFERENCES,
    ORIGINS,
    Candidate,
    Decision,
    EngineRequest,
    EngineResult,
    ShorterLevel,
    Summary,
    is_trusted_origin,
)
from tests.engine.factories import NOW
from tests.engine.strategies import STORIES, TEXTS

SECTIONS = (
    Section("identity", "Identity", "L1", "agent_files", "text", required=True),
    Section("task", "Task", "L3", "task_stack", "sequence"),
    Section("logs", "Daily Logs", "L4", "daily_logs", "entries", cap=300),
    Section("lines", "Team Knowledge", "L4", "team_memories", "lines", top_k=4),
    Section("files", "Team Rules", "L2", "team_files", "blocks"),
    Section("passages", "Relevant Content", "L2", "semantic_content", "blocks", relevance_floor=0.2),
    Section("open", "Open Files", "L2", "open_files", "blocks", cap=400),
    Section("memories", "Memories", "L4", "agent_memories", "blocks", least_origin="agent"),
    Section("events", "Recent Activity", "L3", "recent_events", "blocks", share=40),
    Section("knowledge", "Knowledge Base", "L4", "agent_files", "text"),
    Section("turns", "Recent Turns", "L3", "turns", "turns", share=30),
)
NOTE = Candidate("note:unavailable_sources", FAILURE_NOTE.key, "Not available at the moment: Tools.", kind="note")


@dataclass(frozen=True)
class Run:
    request: EngineRequest
    profile: Profile
    candidates: tuple[Candidate, ...]

    def assembled(self, **changes: object) -> EngineResult:
        profile = replace(self.profile, **changes)  # type: ignore[arg-type]
        return assemble(self.request, profile, self.candidates, get_tokenizer(self.request.tokenizer))


def section_of(profile: Profile, key: str) -> Section:
    return next(section for section in profile.sections if section.key == key)


@st.composite
def candidates_of(draw: st.DrawFn, section: Section) -> list[Candidate]:
    if section.shape == "note":
        return [NOTE]
    most = 1 if section.shape == "text" else 6
    found = []
    for number in range(draw(st.integers(0, most))):
        chance = Random(draw(st.integers(0, 400)))
        text = draw(st.one_of(TEXTS, st.sampled_from(["The same words.", "The  same\nwords."])))
        kind = "chunk" if section.key == "passages" else chance.choice(["fact", "decision", ""])
        own = f"{section.key}:{number}@1"
        ref = {"passages": f"chunk:{number}@1#2", "open": f"document:{number}@1"}.get(section.key, own)
        levels: dict[ShorterLevel, Summary] = {
            "macro": Summary(text[: len(text) // 9], "test"),
            "micro": Summary(text[: len(text) // 3], "test"),
        }
        if chance.random() < 0.2:
            levels.clear()
        found.append(
            Candidate(
                ref,
                section.key,
                f"a.py:1\n{text}" if kind == "chunk" else text,
                kind=kind,
                date=NOW.date() - dt.timedelta(days=number),
                occurred_at=chance.choice([None, NOW - dt.timedelta(hours=chance.randrange(900))]),
                score=chance.random(),
                measures={"relevance": chance.random(), "recency": chance.random(), "credibility": chance.random()},
                position=number,
                pinned=chance.random() < 0.1,
                origin=chance.choice([None, *ORIGINS]),
                levels=levels,
            )
        )
    return found


@st.composite
def runs(draw: st.DrawFn) -> Run:
    chosen = [section for section in SECTIONS if section.required or draw(st.booleans())]
    if draw(st.booleans()):
        chosen.append(FAILURE_NOTE)
    profile = Profile(
        "test",
        1,
        tuple(chosen),
        weights=draw(st.sampled_from([Weights(), Weights(1, 1, 1, 1, 1), Weights(0, 1, 0, 0, 0)])),
        lod=draw(st.sampled_from([None, "adaptive", *LEVEL_PREFERENCES])),
        scope_limits=draw(st.dictionaries(st.sampled_from(SCOPES), st.integers(1, 4))),
        half_life=draw(st.dictionaries(st.sampled_from(SCOPES), st.sampled_from([1, 30.5]))),
        credibility=draw(st.dictionaries(st.sampled_from(SCOPES), st.sampled_from([0.1, 0.9]))),
        delimit=draw(st.sampled_from(get_args(Delimiter))),
        cut_mark=draw(st.sampled_from(get_args(CutMark))),
        cut_at=draw(st.sampled_from(["anywhere", "paragraph"])),
        deduplicate=draw(st.booleans()),
    )
    candidates = tuple(one for section in profile.sections for one in draw(candidates_of(section)))
    tokenizer = draw(st.sampled_from(["cl100k_base", "chars4"]))
    request = EngineRequest(draw(st.sampled_from([0, 60, 200, 500, 900, 2_000, 50_000])), "the walk", tokenizer, NOW)
    return Run(request, profile, candidates)


@given(run=runs())
def test_what_version_6_adds_holds_for_any_profile(run: Run) -> None:
    result = run.assembled()
    check_the_tokens(run, result)
    check_the_sections(run, result)
    check_the_decisions(run, result)
    if run.profile.deduplicate:
        check_that_no_text_repeats(run, result)
    check_the_scopes(run, result)
    check_the_note(run, result)
    assert run.assembled() == result
    assert Profile.from_dict(run.profile.to_dict()) == run.profile


def check_the_tokens(run: Run, result: EngineResult) -> None:
    """The tokens of the items, each with its part of the frame of its section, are those of the context."""
    count = get_tokenizer(run.request.tokenizer).count
    assert result.tokens == count(result.content)
    assert sum(decision.tokens for decision in result.decisions) == result.tokens
    assert sum(section.tokens for section in result.sections) == result.tokens
    assert result.tokens <= run.request.budget or WarningCode.BUDGET_EXCEEDED in result.warnings
    for section in result.sections:
        assert section.cap is None or section.tokens <= section.cap


def check_the_sections(run: Run, result: EngineResult) -> None:
    """Each section is framed as the profile says; items that come from elsewhere are quoted."""
    profile = run.profile.formatted()
    by_ref = {(one.section, one.ref): one for one in run.candidates}
    for found in result.sections:
        section, text = section_of(profile, found.key), result.content[found.start : found.end]
        if not found.included:
            continue
        first = next(one for one in result.decisions if one.section == found.key and one.included)
        assert text.startswith(heading_text(section, by_ref[first.section, first.ref]))
        assert text.endswith(closing_text(section))
        for decision in result.decisions:
            item = result.content[decision.start : decision.end]
            is_quoted = section.treatment == "seen" and by_ref[decision.section, decision.ref].origin in QUOTED_ORIGINS
            if decision.included and decision.section == found.key and is_quoted and section.shape == "blocks":
                assert all(line.startswith("> ") for line in item.split("\n"))


def check_the_decisions(run: Run, result: EngineResult) -> None:
    offered = Counter((one.section, one.ref) for one in run.candidates)
    assert Counter((one.section, one.ref) for one in result.decisions) == offered
    for decision in result.decisions:
        section = section_of(run.profile, decision.section)
        candidate = next(one for one in run.candidates if (one.section, one.ref) == (section.key, decision.ref))
        if decision.included and section.least_origin:
            assert is_trusted_origin(candidate.origin, section.least_origin)
        if decision.included and section.relevance_floor and not candidate.pinned:
            assert candidate.measures["relevance"] >= section.relevance_floor
        if decision.included and section.shape == "blocks":
            assert 0 <= (decision.score or 0) <= 1
        if "lod" in decision.detail:
            check_the_level(run, section, candidate, decision)


def check_the_level(run: Run, section: Section, candidate: Candidate, decision: Decision) -> None:
    """A shorter form is a summary; a preferred level is used where it is shorter than the text."""
    level, preference, costs = decision.detail["lod"], run.profile.lod, decision.detail["levels"]
    assert section.shape == "blocks"
    assert set(costs) <= {*candidate.levels, "atomic"}
    assert all(cost < costs["atomic"] for name, cost in costs.items() if name != "atomic")
    whole = {Code.PINNED if candidate.pinned else Code.FITS, Code.TRUNCATED}
    if decision.included:
        assert decision.code in ({Code.SUMMARISED, Code.TRUNCATED} if level != "atomic" else whole)
    if preference in costs:
        assert level == preference


def check_that_no_text_repeats(run: Run, result: EngineResult) -> None:
    """No text of what competes is included twice, and each duplicate names an item that is included."""
    texts = DistinctTexts()
    included = {one.ref for one in result.decisions if one.included}
    by_ref = {(one.section, one.ref): one for one in run.candidates}
    exempt = {section.key for section in run.profile.sections if section.required or section.shape in {"turns", "note"}}
    digests = Counter(
        texts.digest_of(by_ref[one.section, one.ref])
        for one in result.decisions
        if one.included and one.section not in exempt
    )
    assert not [digest for digest, number in digests.items() if number > 1]
    for decision in result.decisions:
        if decision.code is Code.DUPLICATE:
            assert decision.detail["by"] in included
    whole = {one.ref for one in result.decisions if one.included and one.code in {Code.FITS, Code.PINNED}}
    for decision in result.decisions:
        if decision.included and decision.ref.startswith("chunk:"):
            assert f"document:{decision.ref[6:].partition('#')[0]}" not in whole


def check_the_scopes(run: Run, result: EngineResult) -> None:
    scopes = {section.key: section.scope for section in run.profile.sections if section.shape == "blocks"}
    included = Counter(scopes[one.section] for one in result.decisions if one.included and one.section in scopes)
    for scope, limit in run.profile.scope_limits.items():
        assert included[scope] <= limit


def check_the_note(run: Run, result: EngineResult) -> None:
    """The line about failed sources is the end of the context, unless it would take more than a tenth of it."""
    if run.profile.sections[-1] is not FAILURE_NOTE or WarningCode.BUDGET_EXCEEDED in result.warnings:
        return
    if run.request.budget >= 500:
        assert result.content.endswith(NOTE.text)


@given(run=runs())
def test_details_never_displace_an_item(run: Run) -> None:
    """As many items, and as good ones, are included at adaptive levels as in their shortest form.

    Cuts do not count: they fill room that is left, which details may use as well. A passage of a document that is
    included whole is told with it.
    """
    blocks = {section.key for section in run.profile.sections if section.shape == "blocks"}
    alone = replace(run, candidates=tuple(one for one in run.candidates if one.section in {*blocks, "identity"}))
    adaptive, shortest = (alone.assembled(lod=lod, over_budget=()) for lod in ("adaptive", "macro"))
    priority = {
        id(result): sum(
            one.score or 0
            for one in result.decisions
            if one.section in blocks
            and ((one.included and one.code is not Code.TRUNCATED) or one.code is Code.DUPLICATE)
        )
        for result in (adaptive, shortest)
    }
    assert priority[id(adaptive)] >= priority[id(shortest)] - 1e-9


@given(text=STORIES, budget=st.integers(100, 600))
def test_the_newest_day_that_does_not_fit_is_cut_and_older_ones_follow_if_they_fit(text: str, budget: int) -> None:
    logs = Section("logs", "Daily Logs", "L3", "daily_logs", "entries")
    days = [
        Candidate(f"daily_log:{number}@1", "logs", text * (1 + number % 2), date=NOW.date() - dt.timedelta(days=number))
        for number in range(5)
    ]
    request = EngineRequest(budget, "", "cl100k_base", NOW)
    result = assemble(request, Profile("p", 1, (logs,)), days, get_tokenizer("cl100k_base"))
    codes = [decision.code for decision in result.decisions]
    assert codes.count(Code.TRUNCATED) <= 1
    if Code.TRUNCATED in codes:
        assert codes[: codes.index(Code.TRUNCATED)] == [Code.FITS] * codes.index(Code.TRUNCATED)
    elif Code.OVER_TOTAL_BUDGET in codes:  # not one character of it has room
        assert budget - result.tokens < 20
