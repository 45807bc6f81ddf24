"""Items that do not fit are shortened or dropped before rendering, step by step (the over-budget ladder).

Long lines are compacted to the passage that matches the topic, the weakest first; the weaker half of each section's
hits is dropped; then older turns are compacted; then long outputs of tools and the weakest items are summarised, to
one third; items that still do not fit are excluded or cut, as their section says.
Sources: "Compression and truncation strategies" of the seed "Context Assembly" (the librarian's), and "Compression" of
the seed "Context Assembly Specification".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from assembly.engine.codes import Code
from assembly.engine.extraction import compact_text
from assembly.engine.passages import passage_of
from assembly.engine.profile import Profile, Section, Shape, Step
from assembly.engine.ranking import OverflowStep, RankedCandidate, ShortenedText
from assembly.engine.rendering import SECTION_SEPARATOR, closing_text, heading_text, render_item
from assembly.engine.selection import count_item, whole_item_tokens
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import PASSAGES_SINCE, Candidate, Decision, EngineRequest, WantedSummary

SHORTENED_DIVISOR = 3
"""A summary has at most one token for this many tokens of its original."""

MIN_SHORTENED_TOKENS = 60
"""Items with fewer tokens than this are never shortened."""

LONG_ITEM_TOKENS = 300
"""Longer outputs of tools (in tokens) are summarised before other items; longer lines may be compacted to a passage."""

PASSAGE_TOKENS = 200
"""The most tokens of the passage that replaces a long line, before it may grow by what its section has left."""

UNCOMPACTED_TURNS = 4
"""The number of latest turns that are never compacted."""

FULL_SHARE = 0.9
"""A context that uses less than this share of its budget is filled ("Budget Management" of the seed "Memory Layer")."""

_HIT_SHAPES: set[Shape] = {"blocks", "lines", "entries"}

SHORT_TEXT, COST = "short_text", "cost"
"""First parts of the keys under which a candidate's memo caches its shortened text, and the tokens that it takes."""

DecisionKey = tuple[str, str]
TokenCost = Callable[[RankedCandidate], int]


@dataclass(frozen=True, slots=True)
class OverflowPolicy:
    """The overflow steps of a profile, for one run of the engine."""

    steps: tuple[Step, ...]
    fill: bool
    tokenizer: Tokenizer
    topic: str = ""
    """The topic by which passages are chosen; if empty, no line is compacted."""

    @classmethod
    def of(cls, profile: Profile, request: EngineRequest, tokenizer: Tokenizer) -> "OverflowPolicy":
        """Return the overflow steps of the profile, as the engine version of the request has them."""
        topic = request.topic if request.engine_version >= PASSAGES_SINCE else ""
        return cls(profile.over_budget, profile.fill, tokenizer, topic)

    @property
    def is_noop(self) -> bool:
        """Whether the policy changes nothing: it has no steps and does not fill."""
        return not self.steps and not self.fill

    def within(
        self, section: Section, ranked: Sequence[RankedCandidate], room: int, code: Code
    ) -> list[RankedCandidate]:
        """Return a section's ranked items, best first, adjusted to fit: whole, shortened, or dropped with the code.

        `room` is in tokens and includes the heading. Items that still do not fit are tried again when rendered.
        """
        if self.is_noop or section.required or section.shape not in _HIT_SHAPES | {"turns"}:
            return list(ranked)
        counted = [item if item.code else self.counted(section, item) for item in ranked]
        undecided = [item for item in counted if not item.code]
        room -= sum(map(self.tokenizer.count, filter(None, (heading_text(section), closing_text(section)))))
        changed = self.changes_to_fit(
            {section.key: section}, undecided, lambda item: self.cost(section, item), room, code
        )
        planned = [changed.get(decision_key(item), item) for item in counted]
        filled = self._refilled(section, planned, room) if self.fill else planned
        return self._with_longer_passages(section, filled, room)

    def changes_to_fit(
        self,
        sections: Mapping[str, Section],
        undecided: Sequence[RankedCandidate],
        cost: TokenCost,
        room: int,
        code: Code,
    ) -> dict[DecisionKey, RankedCandidate]:
        """Return the items, out of those undecided (best first), that the steps change; dropped ones have the code."""
        costs = {decision_key(item): cost(item) for item in undecided}
        over = sum(costs.values()) - room
        changed: dict[DecisionKey, RankedCandidate] = {}
        for step, item in self._planned_steps(sections, undecided):
            if over <= 0:
                break
            key = decision_key(item)
            now = changed.get(key, item)
            done = None if now.code else self._do(step, sections[key[0]], now, code)
            if done is not None:
                changed[key] = done
                left = 0 if done.code else self.cost(sections[key[0]], done)
                over, costs[key] = over - (costs[key] - left), left
        return changed

    def _planned_steps(
        self, sections: Mapping[str, Section], undecided: Sequence[RankedCandidate]
    ) -> Iterable[tuple[Step, RankedCandidate]]:
        """Yield (step, item) in the order in which the overflow steps apply."""
        weakest = list(reversed(undecided))
        if "compact" in self.steps and self.topic:
            # Lines are compacted before hits are dropped: a passage has the relevant part in a third of the tokens.
            lines = [item for item in weakest if _is_passage_candidate(sections[item.candidate.section], item)]
            yield from (("compact", item) for item in lines)
        if "drop" in self.steps:
            yield from (("drop", item) for item in _weaker_half(sections, weakest))
        if "compact" in self.steps:
            turns = [item for item in weakest if sections[item.candidate.section].shape == "turns"]
            yield from (("compact", item) for item in turns)
        if "summarise" in self.steps:
            items = [item for item in weakest if sections[item.candidate.section].shape in _HIT_SHAPES]
            # The sort keeps the order among equals: the weakest first.
            items.sort(key=lambda item: not _is_long_output(sections[item.candidate.section], item))
            yield from (("summarise", item) for item in items)

    def _do(self, step: Step, section: Section, item: RankedCandidate, code: Code) -> RankedCandidate | None:
        """Return the counted item after the step; None if the step does not change the item."""
        return dropped_item(item, code) if step == "drop" else self.shortened(step, section, item)

    def shortened(self, step: Step, section: Section, item: RankedCandidate, more: int = 0) -> RankedCandidate | None:
        """Return the counted item in about a third of its tokens; None if it must stay whole or cannot be shortened.

        The passage of a line may have `more` tokens in addition to PASSAGE_TOKENS.
        """
        just_said = step == "compact" and section.shape == "turns" and (item.rank or 0) <= UNCOMPACTED_TURNS
        if item.short or just_said or section.overflow == "drop" or _current_tokens(item) < MIN_SHORTENED_TOKENS:
            return None
        text = self._short_text(step, section, item.candidate, more)
        if not text.strip():
            return None
        short = ShortenedText(text, Code.COMPACTED if step == "compact" else Code.SUMMARISED)
        after = self.tokenizer.count(render_item(section, structs.replace(item.candidate, text=text)).text)
        taken = OverflowStep(step, _current_tokens(item), after)
        return structs.replace(item, short=short, tokens_shortened=after, steps=(*item.steps, taken))

    def _short_text(self, step: Step, section: Section, candidate: Candidate, more: int) -> str:
        if step == "compact" and section.shape == "lines":
            return passage_of(candidate.text, self.topic, PASSAGE_TOKENS + more, self.tokenizer)
        if step == "summarise" and candidate.summary is not None:
            return candidate.summary.text
        # The short text is cached, because each run shortens the same items, e.g. a profile tried with other budgets.
        form = SHORT_TEXT, step, section.shape, section.treatment, self.tokenizer.name
        known: str | None = candidate.memo.get(form)
        if known is None:
            body, room = render_item(section, candidate).body, max_summary_tokens(section, candidate, self.tokenizer)
            # The substitute is about as long as the requested summary, which replaces it when the engine runs again.
            prefix = compact_text if step == "compact" else _text_beginning
            known = candidate.memo[form] = prefix(body, room, self.tokenizer)
        return known

    def counted(self, section: Section, item: RankedCandidate) -> RankedCandidate:
        """Return the item with the token count of its whole text."""
        return structs.replace(item, tokens_full=whole_item_tokens(section, item.candidate, self.tokenizer))

    def cost(self, section: Section, item: RankedCandidate) -> int:
        """Return about how many tokens the counted item takes in its current form, with the blank line after it."""
        shown, form = item.shown, (COST, *section.form, self.tokenizer.name)
        known: int | None = shown.memo.get(form)
        if known is None:
            alone = TokenLedger(self.tokenizer).append_counted("", count_item(section, shown, self.tokenizer))
            known = shown.memo[form] = alone.tokens_with(SECTION_SEPARATOR)
        return known

    def _refilled(self, section: Section, planned: Sequence[RankedCandidate], room: int) -> list[RankedCandidate]:
        """Return the items with excluded ones included again where less than nine tenths of the room are used."""
        left, chosen = room, set()
        for item in (item for item in planned if item.code is None):
            cost = self.cost(section, item)
            if cost <= left:
                left -= cost
                chosen.add(item.candidate.ref)
        if room - left >= FULL_SHARE * room:
            return list(planned)
        filled = []
        for item in planned:
            back = None
            if item.candidate.ref not in chosen and is_out_of_room(item):
                back = self.readmitted(section, item, left)
            left -= self.cost(section, back) if back else 0
            filled.append(back or item)
        return filled

    def _with_longer_passages(
        self, section: Section, planned: Sequence[RankedCandidate], room: int
    ) -> list[RankedCandidate]:
        """Return the items with their passages lengthened, the best first, by the tokens that the section has left."""
        if not any(item.short and item.short.code is Code.COMPACTED for item in planned) or section.shape != "lines":
            return list(planned)
        left = room - sum(self.cost(section, item) for item in planned if item.code is None)
        grown = []
        for item in planned:
            longer = self._lengthened(section, item, left)
            left -= self.cost(section, longer) - self.cost(section, item) if longer else 0
            grown.append(longer or item)
        return grown

    def _lengthened(self, section: Section, item: RankedCandidate, left: int) -> RankedCandidate | None:
        """Return the item whole, or with a longer passage, for at most `left` tokens more; None if neither fits."""
        if item.code or not item.short or item.short.code is not Code.COMPACTED or left <= 0:
            return None
        whole = structs.replace(item, short=None, tokens_shortened=None, steps=())
        forms = (whole, self.shortened("compact", section, whole, more=left))
        gains = ((form, self.cost(section, form) - self.cost(section, item)) for form in forms if form)
        return next((form for form, gain in gains if 0 < gain <= left), None)

    def readmitted(self, section: Section, item: RankedCandidate, room: int) -> RankedCandidate | None:
        """Return an excluded item included again, whole or shortened to fit in `room` tokens; None if no form fits."""
        whole = self.counted(section, structs.replace(item, code=None, short=None, tokens_shortened=None, steps=()))
        steps: list[Step] = ["compact"] if section.shape == "turns" else ["summarise"]
        if self.topic and _is_passage_candidate(section, whole):
            steps.insert(0, "compact")
        forms = (self.shortened(step, section, whole) for step in steps if step in self.steps)
        return next((form for form in (whole, *forms) if form and self.cost(section, form) <= room), None)


def is_out_of_room(item: RankedCandidate) -> bool:
    """Return whether the item is undecided or was excluded only for lack of budget."""
    return item.code is None or item.code.is_over_budget


def dropped_item(item: RankedCandidate, code: Code) -> RankedCandidate:
    """Return the counted item as dropped by an overflow step, with the code that names the exceeded budget."""
    return structs.replace(item, code=code, steps=(*item.steps, OverflowStep("drop", _current_tokens(item), 0)))


def decision_key(item: RankedCandidate) -> DecisionKey:
    return item.candidate.section, item.candidate.ref


def max_summary_tokens(section: Section, candidate: Candidate, tokenizer: Tokenizer) -> int:
    """Return the most tokens of the candidate's summary: a third of the whole item, less the lead of its line."""
    rendered = render_item(section, candidate)
    return max(
        0, whole_item_tokens(section, candidate, tokenizer) // SHORTENED_DIVISOR - tokenizer.count(rendered.lead)
    )


def wanted_summaries(
    profile: Profile, candidates: Iterable[Candidate], decisions: Iterable[Decision], tokenizer: Tokenizer
) -> tuple[WantedSummary, ...]:
    """Return the summaries that the decisions need and that do not exist yet, in the order of the decisions."""
    sections = {section.key: section for section in profile.sections}
    summarised = [
        decision for decision in decisions if decision.code is Code.SUMMARISED and "lod" not in decision.detail
    ]
    missing = {(item.section, item.ref): item for item in candidates if summarised and item.summary is None}
    found = []
    for decision in summarised:
        candidate = missing.get((decision.section, decision.ref))
        if candidate is not None:
            section = sections[decision.section]
            most = max_summary_tokens(section, candidate, tokenizer)
            found.append(WantedSummary(decision.section, decision.ref, candidate.text, most, candidate.sensitivity))
    return tuple(found)


def _text_beginning(body: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    return body[: tokenizer.prefix(body, max_tokens)]


def _weaker_half(sections: Mapping[str, Section], weakest: Sequence[RankedCandidate]) -> Iterable[RankedCandidate]:
    """Yield the weaker half of each section's hits, the weakest of all first."""
    left = {
        key: sum(item.candidate.section == key for item in weakest) // 2
        for key, section in sections.items()
        if section.shape in _HIT_SHAPES
    }
    for item in weakest:
        key = item.candidate.section
        if left.get(key):
            left[key] -= 1
            yield item


def _is_passage_candidate(section: Section, item: RankedCandidate) -> bool:
    """Whether the counted item is a long line that no rule or pin requires to be included as it is."""
    is_free = item.ruling.included_as is Code.FITS
    return section.shape == "lines" and is_free and _current_tokens(item) > LONG_ITEM_TOKENS


def _is_long_output(section: Section, item: RankedCandidate) -> bool:
    return section.source == "tool_results" and _current_tokens(item) >= LONG_ITEM_TOKENS


def _current_tokens(item: RankedCandidate) -> int:
    """Return the tokens of the counted item in its current form, whole or shortened."""
    return (item.tokens_shortened if item.short else item.tokens_full) or 0
