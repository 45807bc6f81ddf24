"""A caller's own texts are whole while the whole budget has room; their share limits them only where it has none.

These texts are the conversation so far and the additional context of a request. A context is first assembled within
all caps. If one of these texts was cut or excluded and tokens are left, its section gets them, and the context is
assembled again, unless an item of another section would then be lost.
"""

from collections.abc import Callable
from dataclasses import replace

from assembly.engine.codes import Code
from assembly.engine.profile import Profile, Section
from assembly.engine.types import EngineResult

CALLER_SOURCES = frozenset({"additional_context", "turns"})
SHORTENED_CODES = frozenset({Code.COMPACTED, Code.SUMMARISED})
"""Codes of items that are included as some of their sentences, or as a summary."""

ItemKey = tuple[str, str]


def assemble_with_room(profile: Profile, budget: int, run: Callable[[Profile], EngineResult]) -> EngineResult:
    """Return the context of the profile, whose caps are in tokens, with what room there is given to a caller's texts.

    `run` assembles the context within the caps of the given profile. It is called once, and once more for each of at
    most two sections.
    """
    result = run(profile)
    for section in profile.sections:
        if section.source not in CALLER_SOURCES or section.cap is None or not _is_incomplete(result, section):
            continue
        cap = _tokens_of(result, section) + budget - result.tokens
        if cap > section.cap:
            wider = _with_cap(profile, section, cap)
            trial = run(wider)
            has_more = _tokens_of(trial, section) > _tokens_of(result, section)
            if has_more and _included_elsewhere(result, section).items() <= _included_elsewhere(trial, section).items():
                profile, result = wider, trial
    return result


def _is_incomplete(result: EngineResult, section: Section) -> bool:
    codes = {decision.code for decision in result.decisions if decision.section == section.key}
    return any(code.is_over_budget or code in SHORTENED_CODES for code in codes)


def _tokens_of(result: EngineResult, section: Section) -> int:
    return next(one.tokens for one in result.sections if one.key == section.key)


def _with_cap(profile: Profile, section: Section, cap: int) -> Profile:
    sections = tuple(replace(one, cap=cap) if one.key == section.key else one for one in profile.sections)
    return replace(profile, sections=sections)


def _included_elsewhere(result: EngineResult, section: Section) -> dict[ItemKey, Code]:
    """Return the codes of the included items of all other sections."""
    return {
        (decision.section, decision.ref): decision.code
        for decision in result.decisions
        if decision.included and decision.section != section.key
    }
