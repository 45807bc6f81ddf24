"""Candidates and sections that the engine's tests share."""

import datetime as dt
from typing import Any

from hypothesis import strategies as st

from assembly.engine.assemble import assemble
from assembly.engine.profile import Profile, Section
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, Decision, EngineRequest, EngineResult

NOW = dt.datetime(2025, 3, 14, 12, tzinfo=dt.UTC)
MARKER = " ... [truncated]"

FRAGMENTS = [
    "word ", "Luna", "The quick brown fox. ", "don't ", "naïve café ", "internationalization", "Привет, мир! ",
    "مرحبا بالعالم ", "สวัสดีชาวโลก", "你好\uff0c世界。", "漢字かな", "👩\u200d👩\u200d👧\u200d👦", "🏳\ufe0f\u200d🌈",
    "🇺🇳", "e\u0301\u0323", "\u0301", "\u200d", "ﷺ", "\U0001d54f", "\u0378", "12345 ", "²½٣", "\n", "\n\n", "\n\n\n\n",
    "\r\n", "\r", " ", "    ", "\t", "\u00a0", "\u2028", "\x85", "\x1c", "\x00", "```py\nx = 1\n```\n",
    "# Title\n", "- item\n", "| a | b |\n|---|---|\n", "**bold**", "'s", "!\n", "/path/to/x", "<|endoftext|>",
    "... [truncated]", MARKER, "## Identity\n", "### 2025-03-14\n", "aGVsbG8gd29ybGQ", '{"a":1,"b":[2]},', "=====",
    "a" * 40, " " * 30,
]  # fmt: skip


def texts(max_fragments: int = 8) -> st.SearchStrategy[str]:
    """Short texts of many scripts and of everything that tokenizers stumble over."""
    fragment = st.sampled_from(FRAGMENTS) | st.text(max_size=12)
    return st.lists(fragment, max_size=max_fragments).map("".join)


def profile_of(*sections: Section, threshold: float = 0.2) -> Profile:
    return Profile("test", 1, sections, similarity_threshold=threshold)


def section(key: str = "s", label: str = "Log", shape: Any = "text", **fields: Any) -> Section:
    return Section(key, label, "L3", "source", shape, **fields)


def candidate(ref: str, text: str, **fields: Any) -> Candidate:
    return Candidate(ref, fields.pop("section", "s"), text, **fields)


def run(
    profile: Profile, *candidates: Candidate, budget: int = 16_000, tokenizer: str = "chars4", **wishes: Any
) -> EngineResult:
    request = EngineRequest(budget, wishes.pop("topic", ""), tokenizer, NOW, **wishes)
    return assemble(request, profile, candidates, get_tokenizer(tokenizer))


def codes(assembled: EngineResult) -> dict[str, str]:
    """Code by ref, in the order of the decisions."""
    return {decision.ref: decision.code.value for decision in assembled.decisions}


def decision_on(assembled: EngineResult, ref: str) -> Decision:
    return next(decision for decision in assembled.decisions if decision.ref == ref)
