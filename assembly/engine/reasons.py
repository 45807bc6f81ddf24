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
        return f"Cut to fit: {_number_text(whole)} of {_number_text(of)} paragraphs are in whole."
    kept, of = decision.detail.get("kept_chars"), decision.detail.get("of_chars")
    return f"Cut to fit: {_number_text(kept)} of {_number_text(of)} characters are in."


def _section_budget_sentence(decision: Decision, label: str) -> str:
    if _was_dropped(decision):
        return f"One of the weakest in {label}: it made room for the others there."
    return f"No room left in {label}.{_missing_tokens(decision)}"


def _total_budget_sentence(decision: Decision, label: str) -> str:
    if decision.detail.get("dropped_for"):
        return "It made room for what happened since: the weakest go first."
    if _was_dropped(decision):
        return f"One of the weakest in {label}: it made room for others in the context."
    return f"No room left in the whole context when it came to {label}.{_missing_tokens(decision)}"


def _outranked_sentence(decision: Decision, label: str) -> str:
    last = decision.detail.get("last_score")
    place = f"{_ordinal(decision.rank or 0)} of the top {_number_text(decision.detail.get('top_k'))} in {label}."
    if decision.score is None or last is None:
        return f"{place} Only the most recent had a place."
    return f"{place} It scored {score_text(decision.score)}; the last one in scored {score_text(last)}."


def _below_relevance_sentence(decision: Decision, label: str) -> str:
    least = score_text(decision.detail.get("threshold"))
    if decision.score is None:
        return f"Nothing tells how near it is to the topic; others in {label} are near."
    return f"Too far from the topic: it scored {score_text(decision.score)}, and {label} asks for {least}."


def _was_dropped(decision: Decision) -> bool:
    return any(step["step"] == "drop" for step in decision.detail.get("steps", ()))


def _shortened_sentence(beginning: str) -> Callable[[Decision, str], str]:
    return lambda decision, _label: (
        f"{beginning}: {_number_text(decision.tokens)} of {_number_text(decision.tokens_full)} tokens."
    )


def _superseded_sentence(decision: Decision, _label: str) -> str:
    return f"A newer one took its place: {decision.detail.get('by')}."


def _expired_sentence(decision: Decision, _label: str) -> str:
    if reason := decision.detail.get("reason"):
        return f"Left out, because it was retired: {str(reason).rstrip('.')}."
    return "Left out: it was good until a date that has passed."


def _duplicate_sentence(decision: Decision, _label: str) -> str:
    return f"Says the same as {decision.detail.get('by')}, which is in."


def _conflict_lost_sentence(decision: Decision, _label: str) -> str:
    return f"Contradicts {decision.detail.get('by')}, which won."


def _rule_sentence(beginning: str) -> Callable[[Decision, str], str]:
    def worded(decision: Decision, _label: str) -> str:
        name = str(decision.detail.get("rule", "")).partition("@")[0]
        return f"{beginning} the rule “{name}” says so." if name else f"{beginning} a rule says so."

    return worded


def _plain_sentence(text: str) -> Callable[[Decision, str], str]:
    return lambda _decision, label: text.format(label=label)


_SENTENCES: Mapping[Code, Callable[[Decision, str], str]] = {
    Code.REQUIRED: _plain_sentence("Always in: {label} is never cut or left out."),
    Code.PINNED: _plain_sentence("In, because somebody pinned it."),
    Code.RULE_INCLUDED: _rule_sentence("In, because"),
    Code.FITS: _plain_sentence("In, whole."),
    Code.TRUNCATED: _truncated_sentence,
    Code.COMPACTED: _shortened_sentence("In, made shorter to save room"),
    Code.SUMMARISED: _shortened_sentence("In, as a summary to save room"),
    Code.OVER_SECTION_BUDGET: _section_budget_sentence,
    Code.OVER_TOTAL_BUDGET: _total_budget_sentence,
    Code.OUTRANKED: _outranked_sentence,
    Code.BELOW_RELEVANCE: _below_relevance_sentence,
    Code.DUPLICATE: _duplicate_sentence,
    Code.CONFLICT_LOST: _conflict_lost_sentence,
    Code.RULE_EXCLUDED: _rule_sentence("Left out, because"),
    Code.FILTERED: _plain_sentence("Left out, because the request asked for other things."),
    Code.SUPERSEDED: _superseded_sentence,
    Code.EXPIRED: _expired_sentence,
    Code.EMPTY: _plain_sentence("There is no text in it."),
}

_SOURCE_SENTENCES: Mapping[SourceCode, str] = {
    SourceCode.SOURCE_TIMEOUT: "It did not answer in time, so nothing of it is in the context.",
    SourceCode.SOURCE_FAILED: "It could not be read, so nothing of it is in the context.",
}

_SUMMARISER_SENTENCES: Mapping[SourceCode, str] = {
    SourceCode.SOURCE_TIMEOUT: "The summaries did not come in time, so texts are told in some of their own sentences.",
    SourceCode.SOURCE_FAILED: "The summaries could not be made, so texts are told in some of their own sentences.",
}

_EMBEDDER_SENTENCES: Mapping[SourceCode, str] = {
    SourceCode.SOURCE_TIMEOUT: "What the topic means was not known in time, so words and dates alone decided.",
    SourceCode.SOURCE_FAILED: "What the topic means could not be found out, so words and dates alone decided.",
}

_WARNING_SENTENCES: Mapping[WarningCode, str] = {
    WarningCode.BUDGET_EXCEEDED: "What is never cut is larger than the whole budget, so it stands alone.",
    WarningCode.TIME_EXCEEDED: "Putting it together took longer than it should.",
    WarningCode.QUALITY_BELOW_MINIMUM: "The context is weaker than this profile asks for.",
    WarningCode.COHERENCE_FAILURE: "Parts of the context do not go together.",
    WarningCode.RULE_NOT_KEPT: "A rule says that something is always in, but there was no room for it.",
}


_WARNING_LABELS: Mapping[str, str] = {
    WarningCode.BUDGET_EXCEEDED: "over budget",
    WarningCode.TIME_EXCEEDED: "took too long",
    WarningCode.QUALITY_BELOW_MINIMUM: "weak",
    WarningCode.COHERENCE_FAILURE: "does not go together",
    WarningCode.RULE_NOT_KEPT: "a rule was not kept",
    SourceCode.SOURCE_TIMEOUT: "a source was late",
    SourceCode.SOURCE_FAILED: "a source failed",
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


def _ordinal(number: int) -> str:
    teen = 10 <= number % 100 < 20  # noqa: PLR2004 (11th, 12th, 13th)
    return f"{number:,}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
