"""An expectation of a recall test names an item or a text that a context must, or must not, include.

It is checked against a simulated context, and an unmet one gets the reason in the words of why-not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from django.utils.translation import gettext as _

from assembly.comparison.side_by_side import ComparedContext
from assembly.contexts.search.owned_things import find_owned_record, search_owned_records
from assembly.engine.codes import Code
from assembly.engine.refs import Ref, document_of
from assembly.engine.types import Candidate, Decision
from assembly.records.item_titles import reason_sentence, title_of
from assembly.records.section_names import section_name
from assembly.why_not.fix_search import is_whole
from assembly.why_not.not_considered import GatheredContext, explain_not_considered, unknown_record

ExpectationKind = Literal["include", "exclude"]
EXPECTATION_KINDS: tuple[ExpectationKind, ...] = get_args(ExpectationKind)
MAX_EXPECTATIONS = 20
"""The maximum number of expectations of a test."""
MAX_TEXT_CHARACTERS = 400
NOT_IN_TEXTS = "no_such_text"
NOT_IN_DRAFT = "not_in_draft"
"""The codes of an expected text that no candidate has, and that only the published version has."""

ESCAPE = re.compile(r"\\(?=[^\w\s])")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a context must include (`include`) or must not include (`exclude`): an item by its ref, or a text.

    The ref has no version: `memory:<uuid>`, `team_file:<uuid>`; that of a passage has its number: `chunk:<uuid>#7`.
    `label` is the title of the item when the test was saved; it is empty for a text.
    """

    kind: ExpectationKind
    ref: str = ""
    text: str = ""
    label: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the expectation as JSON, as `recall_tests.expectations` stores it."""
        return asdict(self)

    @property
    def name(self) -> str:
        """How pages name the expected item or text."""
        return f"“{self.text}”" if self.text else self.label or self.ref


def expectations_from(stored: Sequence[Mapping[str, Any]]) -> list[Expectation]:
    """Return the stored expectations."""
    return [Expectation(**one) for one in stored]


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """Whether the context meets an expectation, and why or why not.

    `code` is a reason code of a decision, or of an item that was not considered.
    """

    expectation: Expectation
    passed: bool
    code: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON, as `recall_results.outcomes` stores it."""
        return {**self.expectation.to_dict(), "passed": self.passed, "code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class CheckedContext:
    """A simulated context with what why-not needs to know of its sources.

    `published` is the context without the draft that is tried; None if none is tried.
    """

    simulated: ComparedContext
    gathered: GatheredContext
    published: ComparedContext | None = None

    @property
    def decided(self) -> Iterator[tuple[Decision, Candidate]]:
        """The decisions with their candidates, in the order of the engine."""
        candidates = self.simulated.candidates
        return ((one, candidates[one.section, one.ref]) for one in self.simulated.decisions)

    def is_told_by_duplicate(self, decision: Decision) -> bool:
        """Return whether the item was excluded as a duplicate, and the item that it names is included."""
        known, followed = self._by_ref, set[str]()
        while decision.code is Code.DUPLICATE and decision.ref not in followed:
            followed.add(decision.ref)
            decision = known.get(str(decision.detail.get("by")), decision)
        return bool(followed) and decision.included

    @property
    def _by_ref(self) -> Mapping[str, Decision]:
        """The decisions by ref; of an item in several sections, one that includes it."""
        return {one.ref: one for one in sorted(self.simulated.decisions, key=lambda one: one.included)}

    def reason(self, decision: Decision) -> str:
        """Return why-not's sentence on the decision."""
        names = {section.key: section_name(section) for section in self.simulated.inputs.profile.sections}
        titles = {one.ref: title_of(one) for one in self.simulated.inputs.candidates}
        return reason_sentence(decision, names[decision.section], titles)


def check_expectation(expectation: Expectation, context: CheckedContext) -> ExpectationResult:
    """Return whether the context meets the expectation, with the reason. No query if it is met."""
    check = _check_text if expectation.text else _check_item
    return check(expectation, context)


def split_ref(ref: str) -> tuple[str, str]:
    """Return the item that the ref names, without a version, and the number of the passage; "" if it names no passage.

    With or without a version: `chunk:<uuid>#7` and `chunk:<uuid>@3#7` give `chunk:<uuid>` and `7`.
    """
    whole, _sign, part = ref.partition("#")
    return Ref.parse(whole).item, part


def _check_item(expectation: Expectation, context: CheckedContext) -> ExpectationResult:
    found = [one for one, _candidate in context.decided if _is_named(one.ref, expectation.ref)]
    best = next((one for one in found if one.included), None)
    if best:
        return _result(expectation, best.code, context.reason(best), included=True)
    if expectation.kind == "include" and (repeated := next(filter(context.is_told_by_duplicate, found), None)):
        reason = _("Another item tells its text. %(reason)s") % {"reason": context.reason(repeated)}
        return _result(expectation, repeated.code, reason, included=True)
    if found:
        return _result(expectation, found[0].code, context.reason(found[0]), included=False)
    thing = find_owned_record(context.gathered, split_ref(expectation.ref)[0])
    missed = explain_not_considered(context.gathered, thing) if thing else unknown_record()
    return _result(expectation, missed.why, missed.sentence, included=False)


def _is_named(ref: str, expected: str) -> bool:
    """Return whether the ref of a candidate is the expected item, or a passage of the expected document."""
    item, part = split_ref(expected)
    names = {Ref.parse(ref).item} if part else {Ref.parse(ref).item, Ref.parse(document_of(ref)).item}
    return item in names and part in {"", Ref.parse(ref).part}


def _check_text(expectation: Expectation, context: CheckedContext) -> ExpectationResult:
    sought = normalized(expectation.text)
    holders = [(one, candidate) for one, candidate in context.decided if sought in normalized(candidate.text)]
    if sought in normalized(context.simulated.content):
        told = next((one for one, _candidate in holders if one.included), None)
        reason = context.reason(told) if told else _("Included.")
        return _result(expectation, told.code if told else "fits", reason, included=True)
    partial = next((one for one, _candidate in holders if not is_whole(one)), None)
    if partial:
        return _result(expectation, partial.code, context.reason(partial), included=False)
    code, reason = _missing_text(expectation, context, sought)
    return _result(expectation, code, reason, included=False)


def _missing_text(expectation: Expectation, context: CheckedContext, sought: str) -> tuple[str, str]:
    """Return why no candidate has the text: the draft lacks it, or the item that has it was not considered."""
    before = context.published.candidates.values() if context.published else ()
    lost = next((one for one in before if sought in normalized(one.text)), None)
    if lost:
        return NOT_IN_DRAFT, _("It is in the published version of %(name)s, and not in the draft.") % {
            "name": title_of(lost)
        }
    considered = {Ref.parse(document_of(one.ref)).item for one in context.simulated.decisions}
    for thing in search_owned_records(context.gathered, expectation.text):
        if Ref.parse(thing.ref).item not in considered:
            missed = explain_not_considered(context.gathered, thing)
            return missed.why, missed.sentence
    return NOT_IN_TEXTS, _("No candidate has this text.")


def normalized(text: str) -> str:
    """Return the text in lower case with single spaces, without the backslashes that escape data in contexts."""
    return " ".join(ESCAPE.sub("", text).casefold().split())


def _result(expectation: Expectation, code: str, reason: str, *, included: bool) -> ExpectationResult:
    return ExpectationResult(expectation, included is (expectation.kind == "include"), str(code), reason)
