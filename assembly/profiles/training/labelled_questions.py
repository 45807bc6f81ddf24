"""Labelled questions are questions with known evidence about a conversation, which is stored while they are asked.

The files are conversations as `import_conversation` reads them, with `qa`: a list of `question`, `category` and
`evidence`, the ids of the turns that contain the answer.
"""

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np
from django.db import transaction
from django.utils.text import slugify
from numpy.typing import NDArray

from agents.models import Agent
from assembly.engine.profile import Section
from assembly.engine.rendering import render_item
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate
from memories.imports.conversation import conversation_import, load_conversation
from memories.models import Memory
from memories.search.memory_search import rows_with_features, topic_vector
from memories.search.question import SearchQuestion, parse_question
from memories.search.row_format import ids_of
from teams.principal import SYSTEM

TURN = re.compile(r"\w+:\d+")
"""A pattern of the turns in an entry of evidence that names several: D5:12; D5:13."""
LINES = Section("memories", "Memories", "L5", "agent_memories", "lines")


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """A question, and the memories that contain its answer."""

    question: SearchQuestion
    category: str
    evidence: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation, its questions, and the number of tokens of each memory's line in a context."""

    agent: Agent
    asked: Sequence[EvidenceQuestion]
    tokens: Mapping[UUID, int]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the features of every memory of its conversation: an array per feature, one value per memory."""

    kind: str
    """The kind of text that the question is about, such as conversations or manuals."""
    measures: Mapping[str, NDArray[np.float64]]
    evidence: NDArray[np.intp]
    """The indexes of the rows that contain the answer."""
    tokens: NDArray[np.int64]


@contextmanager
def stored_conversation(file: Path) -> Iterator[Conversation]:
    """Store the conversation of the file for a temporary agent while the block runs; it is deleted afterwards.

    Questions without evidence are ignored. Raises ImportRefused for a file that is no conversation.
    """
    sessions = load_conversation(file)
    slug = f"training-{slugify(file.stem)[:40]}".strip("-")
    with transaction.atomic():
        conversation_import(sessions=sessions, agent=slug, principal=SYSTEM, advance=lambda _: None)
        agent = Agent.objects.get(slug=slug)
        today = max(session.at for session in sessions).date() + datetime.timedelta(days=1)
        memories = list(Memory.objects.filter(agent=agent).only("id", "kind", "text", "external_id"))
        yield Conversation(
            agent, _evidence_questions(file, memories, today), {memory.id: _tokens(memory) for memory in memories}
        )
        transaction.set_rollback(True)


def load_labelled_questions(file: Path) -> list[LabelledQuestion]:
    """Return the questions about the conversation of the file, with all its memories as the search measures them.

    The folder of the file names the kind of text.
    """
    with stored_conversation(file) as conversation:
        return [_label_question(file.parent.name, conversation, asked) for asked in conversation.asked]


def _evidence_questions(file: Path, memories: Sequence[Memory], today: datetime.date) -> list[EvidenceQuestion]:
    ids = {memory.external_id.split(":", 1)[1].rpartition(":")[0]: memory.id for memory in memories}
    asked = []
    for entry in json.loads(file.read_text(encoding="utf-8")).get("qa", ()):
        evidence = frozenset(ids[turn] for turn in _turns(entry.get("evidence")) & ids.keys())
        question = str(entry["question"])
        if evidence:
            read = parse_question(question, topic_vector(question), today)
            asked.append(EvidenceQuestion(read, str(entry.get("category", "")), evidence))
    return asked


def _turns(evidence: object) -> set[str]:
    """Return the names of the turns in a list of evidence, or in a single entry."""
    entries = [str(entry) for entry in (evidence if isinstance(evidence, list) else [evidence])]
    return {*entries, *(turn for entry in entries for turn in TURN.findall(entry))}


def _label_question(kind: str, conversation: Conversation, asked: EvidenceQuestion) -> LabelledQuestion:
    rows, measures = rows_with_features(conversation.agent, asked.question, least=len(conversation.tokens))
    ids = ids_of(rows)
    evidence = np.array([place for place, id_ in enumerate(ids) if id_ in asked.evidence])
    return LabelledQuestion(kind, measures, evidence, np.array([conversation.tokens[id_] for id_ in ids]))


def _tokens(memory: Memory) -> int:
    line = render_item(LINES, Candidate("", LINES.key, memory.text, memory.kind)).text
    return get_tokenizer("cl100k_base").count(f"{line}\n")
