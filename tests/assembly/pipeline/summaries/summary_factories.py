"""Texts that are too long, what is wanted of them, and what servers say to that."""

from collections.abc import Callable, Sequence
from typing import Any

from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import WantedSummary
from assembly.models import StoredText, text_hash
from assembly.pipeline.summaries.services import Summaries, summarise
from assembly.records.summaries import store_summaries
from tests.http_endpoints import Handler, giving

COUNTER = get_tokenizer("cl100k_base")
TEXT = "notes/harbour.md\n" + (
    "The harbour walk starts at the old quay. Bring a coat. The walk follows the harbour wall to the lighthouse. "
    "Somebody lost a glove. From the lighthouse the harbour walk turns back along the quay. My cat is asleep. "
)
SUMMARY = "notes/harbour.md\nThe walk leads from the quay to the lighthouse and back."


def want(text: str = TEXT, max_tokens: int = 30, *, ref: str = "document:1@1", section: str = "files") -> WantedSummary:
    return WantedSummary(section, ref, text, max_tokens)


def wants_of(number: int) -> list[WantedSummary]:
    """So many wants with different texts."""
    return [want(f"notes/{place}.md\n{TEXT}", ref=f"document:{place}@1") for place in range(number)]


def summaries_of(*wants: WantedSummary, seconds: float = 5.0) -> Summaries:
    return summarise(wants, tokenizer=COUNTER, seconds=seconds)


def completion(said: Any, finish_reason: str = "stop") -> dict[str, Any]:
    """What a server of chat completions answers."""
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": finish_reason}]
    }


def saying(said: Any, finish_reason: str = "stop") -> Callable[[Handler], None]:
    return giving(completion(said, finish_reason))


def keep(wants: Sequence[WantedSummary], summaries: Summaries) -> None:
    """Store texts and summaries as the record of an assembly does."""
    rows = []
    for one in wants:
        summary = summaries.by_item[one.section, one.ref]
        for text in (one.text, summary.text):
            StoredText.objects.get_or_create(sha256=text_hash(text), defaults={"text": text})
        rows.append((text_hash(one.text), summary.model, text_hash(summary.text)))
    store_summaries(rows)
