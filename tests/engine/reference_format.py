"""The format of a context and what rules mean, spelled out a second time.

Nothing here uses the engine's own functions, but for the escaping of texts, which tests/attacks tries by itself: the
promises are checked against this.
"""

from msgspec import structs

from assembly.engine.profile import Profile, Section
from assembly.engine.rendering import render_item
from assembly.engine.rules import SCOPES, Rule, Selector
from assembly.engine.types import Candidate, Decision, EngineRequest
from tests.engine.strategies import FOUND_BY

FOR_WANT_OF_ROOM = {"over_section_budget", "over_total_budget"}
WHOLE = {"fits", "pinned", "required", "rule_included"}
SHORT = {"compacted", "summarised"}
HITS = {"blocks", "lines", "entries"}
"""Shapes of what sources found, of which the weakest may go or be summarised."""

_SEPARATORS = {"text": "", "lines": "\n"}  # all others: a blank line
_BLANK_LINE_AFTER_HEADING = {"blocks", "sequence", "turns"}


def lead_and_body(section: Section, candidate: Candidate, text: str | None = None) -> tuple[str, str]:
    """What stands before the text of an item, and its text, or the one that stands for it."""
    shown = candidate if text is None else structs.replace(candidate, text=text)
    kind = " ".join(candidate.kind.splitlines()).translate(
        {ord("["): "(", ord("]"): ")", ord("*"): "", ord("`"): "", ord("<"): ""}
    )
    if section.shape == "entries":
        lead = f"### {candidate.date}\n"
    elif section.shape == "lines":
        lead = f"- [{kind}] " if candidate.kind else "- "
        lead += "" if candidate.kind or not shown.text.rstrip().startswith("[") else "\\"
    else:
        lead = f"**{kind}**: " if section.shape == "turns" else ""
    return lead, render_item(section, shown).body


def cut_short(section: Section, candidate: Candidate, length: int) -> str | None:
    """What stands for an item that is cut after so many characters of its text; None where it may not end there."""
    lead, body = lead_and_body(section, candidate)
    rendered = render_item(section, candidate)
    return lead + body[:length] + rendered.ending(length) if rendered.can_end(length) else None


def whole_item(section: Section, candidate: Candidate) -> str:
    """The item as it reads when nothing of it is left out."""
    return "".join(lead_and_body(section, candidate))


def heading(section: Section) -> str:
    return f"## {section.label}\n" + ("\n" if section.shape in _BLANK_LINE_AFTER_HEADING else "")


def separator(section: Section) -> str:
    return _SEPARATORS.get(section.shape, "\n\n")


def opened(section: Section, before: str, so_far: str) -> str:
    """What stands between the text so far and the next item of the section, before which stands another text."""
    if so_far != before:
        return separator(section)
    return ("\n\n" if before else "") + heading(section)


def cap_of(section: Section, budget: int) -> int | None:
    caps = [] if section.cap is None else [section.cap]
    return min(caps if section.share is None else [*caps, int(budget * (section.share / 100))], default=None)


def tighter(section: Section, used: int, budget: int) -> tuple[int, str]:
    """The tokens that the text may count when the section ends, and the code of what goes over."""
    cap = cap_of(section, budget)
    if cap is not None and used + cap < budget:
        return used + cap, "over_section_budget"
    return budget, "over_total_budget"


def expected_status(found: set[str]) -> str:
    inside = found & (WHOLE | SHORT)
    if "truncated" in found:
        return "cut"
    if found & FOR_WANT_OF_ROOM:
        return "partial" if inside else "left_out"
    return "whole" if inside else "empty"


def expected_wholly(request: EngineRequest, section: Section, candidate: Candidate) -> tuple[str, str]:
    """The code of what is in as it is, or left out by a rule, and the label of the rule that says so."""
    if section.required:
        return "required", ""
    included = _first([rule for rule in request.rules if _any(rule.then.always_include, section, candidate)])
    excluded = _first([rule for rule in request.rules if _any(rule.then.exclude, section, candidate)])
    if excluded and (not included or SCOPES.index(excluded.scope) <= SCOPES.index(included.scope)):
        return "rule_excluded", excluded.label
    if included and section.key == "always_included":
        return "rule_included", included.label
    return "pinned" if candidate.pinned and section.shape in {"lines", "blocks"} else "fits", ""


def _first(rules: list[Rule]) -> Rule | None:
    return rules[0] if rules else None


def _any(selectors: tuple[Selector, ...], section: Section, candidate: Candidate) -> bool:
    return any(
        section.source == selector.value
        if selector.by == "source"
        else FOUND_BY[selector.by, selector.value] & set(candidate.labels.get(selector.by, ()))
        for selector in selectors
    )


def says_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether they are of one row or have one text, whatever its white space."""
    return one.ref == other.ref or one.text.split() == other.text.split()


def stood(profile: Profile, decision: Decision) -> bool:
    """Whether the candidate was ranked and had a chance of room."""
    section = next(section for section in profile.sections if section.key == decision.section)
    return decision.rank is not None and (section.top_k is None or decision.rank <= section.top_k)
