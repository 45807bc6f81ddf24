"""Every reason code is worded as a plain sentence for people in this module alone."""

from collections.abc import Callable, Mapping

from assembly.engine.codes import Code, SourceCode, WarningCode
from assembly.engine.types import Decision


def decision_sentence(decision: Decision, label: str) -> str:
    """Return one or two short sentences why the candidate is included or excluded; `label` is its section's heading."""
    return _SENTENCES[decision.code](decision, label)


def source_sentence(code: SourceCode) -> str:
    """Return a sentence on what went wrong with a source, and what that means for the context."""
    return _SOURCE_SENTENCES[code]


def summariser_sentence(code: SourceCode) -> str:
    """Return a sentence on what went wrong with the model for summaries, and what that means for the context."""
    return _SUMMARISER_SENTENCES[code]


def embedder_sentence(code: SourceCode) -> str:
    """Return a sentence on what went wrong with the embedding model, and what that means for the context."""
    return _EMBEDDER_SENTENCES[code]


def warning_sentence(code: WarningCode) -> str:
    """Return the sentence of a warning about the whole context."""
    return _WARNING_SENTENCES[code]


def warning_label(code: str) -> str:
    """Return a warning or source code in two to four words, for a badge."""
    return _WARNING_LABELS[code]


def _truncated_sentence(decision: Decision, _label: str) -> str:
    whole, of = decision.detail.get("kept_paragraphs"), decision.detail.get("of_paragraphs")
    if whole:
        return f"Truncated: {_number_text(whole)} of {_number_text(of)} paragraphs are included."
    kept, of = decision.detail.get("kept_chars"), decision.detail.get("of_chars")
    return f"Truncated: {_number_text(kept)} of {_number_text(of)} characters are included."


def _section_budget_sentence(decision: Decision, label: str) -> str:
    if _was_dropped(decision):
        return f"Excluded for other items of {label} with higher scores."
    return f"The limit of {label} was reached.{_missing_tokens(decision)}"


def _total_budget_sentence(decision: Decision, label: str) -> str:
    if decision.detail.get("dropped_for"):
        return "Excluded for the appended event: items with the lowest scores are excluded first."
    if _was_dropped(decision):
        return "Excluded for other items of the context with higher scores."
    return f"The budget was used up before {label}.{_missing_tokens(decision)}"


def _outranked_sentence(decision: Decision, label: str) -> str:
    last = decision.detail.get("last_score")
    top_k = _number_text(decision.detail.get("top_k"))
    if scope := decision.detail.get("scope"):
        number, label = decision.detail.get("rank", 0), f"the scope {scope}"
    else:
        number = decision.rank or 0
    place = f"Ranked {_number_text(number)}; the limit of {label} is {top_k}."
    if decision.score is None or last is None:
        return f"{place} Sorted by recency."
    return f"{place} Score {score_text(decision.score)} (cut-off {score_text(last)})."


def _below_relevance_sentence(decision: Decision, label: str) -> str:
    least = score_text(decision.detail.get("threshold"))
    if "relevance" in decision.detail:
        return f"Low relevance: {score_text(decision.detail['relevance'])}; the minimum of {label} is {least}."
    if decision.score is None:
        return f"Its similarity to the topic is unknown; others in {label} are similar."
    return f"Low relevance: score {score_text(decision.score)}; the minimum of {label} is {least}."


def _untrusted_origin_sentence(decision: Decision, label: str) -> str:
    origin = _ORIGIN_PHRASES.get(decision.detail.get("origin"), "an unknown origin")
    least = _ORIGIN_PHRASES.get(decision.detail.get("least_origin"), "a more trusted origin")
    return f"Excluded, because it comes from {origin}; {label} takes texts from {least} at least."


_ORIGIN_PHRASES: Mapping[object, str] = {
    "person": "a person",
    "agent": "an agent",
    "tool": "a tool",
    "external": "outside of the organisation",
}


def _was_dropped(decision: Decision) -> bool:
    return any(step["step"] == "drop" for step in decision.detail.get("steps", ()))


def _shortened_sentence(beginning: str) -> Callable[[Decision, str], str]:
    return lambda decision, _label: (
        f"{beginning}: {_number_text(decision.tokens)} of {_number_text(decision.tokens_full)} tokens."
    )


def _superseded_sentence(decision: Decision, _label: str) -> str:
    return f"Superseded by a newer item: {decision.detail.get('by')}."


def _expired_sentence(decision: Decision, _label: str) -> str:
    if reason := decision.detail.get("reason"):
        return f"Excluded, because it was archived: {str(reason).rstrip('.')}."
    return "Excluded, because it has expired."


def _duplicate_sentence(decision: Decision, _label: str) -> str:
    return f"Duplicate of {decision.detail.get('by')}, which is included."


def _conflict_lost_sentence(decision: Decision, _label: str) -> str:
    told = f"In conflict with {decision.detail.get('by')}"
    reasoning = str(decision.detail.get("reasoning", "")).rstrip(".")
    return f"{told}: {reasoning}." if reasoning else f"{told}, which is included."


def _rule_sentence(beginning: str) -> Callable[[Decision, str], str]:
    def worded(decision: Decision, _label: str) -> str:
        name = str(decision.detail.get("rule", "")).partition("@")[0]
        return f"{beginning} by the rule “{name}”." if name else f"{beginning} by a rule."

    return worded


def _plain_sentence(text: str) -> Callable[[Decision, str], str]:
    return lambda _decision, label: text.format(label=label)


_SENTENCES: Mapping[Code, Callable[[Decision, str], str]] = {
    Code.REQUIRED: _plain_sentence("Required: {label} is always included in full."),
    Code.PINNED: _plain_sentence("Included, because it is pinned."),
    Code.RULE_INCLUDED: _rule_sentence("Included"),
    Code.FITS: _plain_sentence("Included in full."),
    Code.TRUNCATED: _truncated_sentence,
    Code.COMPACTED: _shortened_sentence("Shortened to save tokens"),
    Code.SUMMARISED: _shortened_sentence("Summarised to save tokens"),
    Code.OVER_SECTION_BUDGET: _section_budget_sentence,
    Code.OVER_TOTAL_BUDGET: _total_budget_sentence,
    Code.OUTRANKED: _outranked_sentence,
    Code.BELOW_RELEVANCE: _below_relevance_sentence,
    Code.DUPLICATE: _duplicate_sentence,
    Code.CONFLICT_LOST: _conflict_lost_sentence,
    Code.UNTRUSTED_ORIGIN: _untrusted_origin_sentence,
    Code.RULE_EXCLUDED: _rule_sentence("Excluded"),
    Code.FILTERED: _plain_sentence("Excluded by the request."),
    Code.SUPERSEDED: _superseded_sentence,
    Code.EXPIRED: _expired_sentence,
    Code.EMPTY: _plain_sentence("Empty."),
}

_SOURCE_SENTENCES: Mapping[SourceCode, str] = {
    SourceCode.SOURCE_TIMEOUT: "It timed out, so its items are missing in the context.",
    SourceCode.SOURCE_FAILED: "It failed, so its items are missing in the context.",
    SourceCode.SOURCE_NOT_ASKED: "It was not asked because of the sensitivity, so its items are missing.",
}

_SUMMARISER_SENTENCES: Mapping[SourceCode, str] = {
    SourceCode.SOURCE_TIMEOUT: "The summariser timed out, so extracts of the texts are used.",
    SourceCode.SOURCE_FAILED: "The summariser failed, so extracts of the texts are used.",
    SourceCode.SOURCE_NOT_ASKED: "The summariser was not sent the more sensitive texts, so extracts of these are used.",
}

_EMBEDDER_SENTENCES: Mapping[SourceCode, str] = {
    SourceCode.SOURCE_TIMEOUT: "The embedder timed out, so items were found by words and dates only.",
    SourceCode.SOURCE_FAILED: "The embedder failed, so items were found by words and dates only.",
    SourceCode.SOURCE_NOT_ASKED: "The embedder was not sent the topic, so items were found by words and dates only.",
}

_WARNING_SENTENCES: Mapping[WarningCode, str] = {
    WarningCode.BUDGET_EXCEEDED: "The required sections exceed the budget, so nothing else is included.",
    WarningCode.TIME_EXCEEDED: "Assembling took longer than its deadline.",
    WarningCode.QUALITY_BELOW_MINIMUM: "The mean relevance is below the minimum of the profile.",
    WarningCode.COHERENCE_FAILURE: "Conflicts were not checked, or the coherence is below the minimum of the profile.",
    WarningCode.RULE_NOT_KEPT: "An item that a rule always includes did not fit.",
    WarningCode.CONFLICT_FLAGGED: "Some texts contradict each other; a person should decide which one holds.",
}


_WARNING_LABELS: Mapping[str, str] = {
    WarningCode.BUDGET_EXCEEDED: "over budget",
    WarningCode.TIME_EXCEEDED: "timeout",
    WarningCode.QUALITY_BELOW_MINIMUM: "low relevance",
    WarningCode.COHERENCE_FAILURE: "low coherence",
    WarningCode.RULE_NOT_KEPT: "rule not satisfied",
    WarningCode.CONFLICT_FLAGGED: "disputed",
    SourceCode.SOURCE_TIMEOUT: "source timed out",
    SourceCode.SOURCE_FAILED: "source failed",
    SourceCode.SOURCE_NOT_ASKED: "not asked",
}


def _missing_tokens(decision: Decision) -> str:
    needed = decision.detail.get("needed")
    if not needed:
        return ""
    return f" {_number_text(needed)} more {'token was' if needed == 1 else 'tokens were'} needed."


def _number_text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else "?"


def score_text(value: object) -> str:
    """Return the number with two decimals, without a zero before the point: .58, -.12, 1.00; "?" for anything else."""
    # Adding 0.0 turns the -0.0 of a tiny negative score into 0.0.
    if not isinstance(value, int | float):
        return "?"
    worded = f"{round(value, 2) + 0.0:.2f}"
    return worded.replace("0.", ".", 1) if abs(value) < 1 else worded
