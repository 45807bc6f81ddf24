"""The example of the seed "Siestai: Context Assembly", byte for byte."""

import datetime as dt

from assembly.engine.types import Candidate
from assembly.profiles.shipped import CONVERSATION
from tests.engine.factories import NOW, codes, run

EXPECTED = """\
## Identity
You are Luna, a creative writing assistant...

## Instructions
Always respond with empathy. Prioritize storytelling...

## Team Goals
Ship the Q1 product demo by March 15...

## Recent Activity
### 2025-03-14
Discussed character arc revisions with user...

### 2025-03-13
Reviewed plot outline for chapter 3...

## Team Knowledge
- [decision] Use three-act structure for the demo narrative
- [context] Target audience is enterprise product managers

## Personal Memories
- [preference] User prefers concise bullet points over paragraphs
- [learning] User's team uses Notion for documentation

## Knowledge Base
Reference materials for storytelling frameworks..."""

KEYS = {section.label: section.key for section in CONVERSATION.sections}
CANDIDATES = [
    Candidate("identity", KEYS["Identity"], "You are Luna, a creative writing assistant...\n"),
    Candidate("instructions", KEYS["Instructions"], "Always respond with empathy. Prioritize storytelling..."),
    Candidate("goals", KEYS["Team Goals"], "Ship the Q1 product demo by March 15...\n\n"),
    Candidate("context", KEYS["Team Context"], ""),
    Candidate("rules", KEYS["Team Rules"], " \n"),
    Candidate("day13", KEYS["Recent Activity"], "Reviewed plot outline for chapter 3...", date=dt.date(2025, 3, 13)),
    Candidate(
        "day14", KEYS["Recent Activity"], "Discussed character arc revisions with user...\n", date=dt.date(2025, 3, 14)
    ),
    Candidate(
        "audience",
        KEYS["Team Knowledge"],
        "Target audience is enterprise product managers",
        kind="context",
        similarity=0.41,
    ),
    Candidate(
        "structure",
        KEYS["Team Knowledge"],
        "Use three-act structure for the demo narrative",
        kind="decision",
        similarity=0.73,
    ),
    Candidate(
        "notion",
        KEYS["Personal Memories"],
        "User's team uses Notion for documentation",
        kind="learning",
        occurred_at=NOW - dt.timedelta(days=2),
    ),
    Candidate(
        "bullets",
        KEYS["Personal Memories"],
        "User prefers concise bullet points over paragraphs",
        kind="preference",
        occurred_at=NOW - dt.timedelta(days=1),
    ),
    Candidate("knowledge", KEYS["Knowledge Base"], "Reference materials for storytelling frameworks..."),
]


def test_luna_is_told_exactly_what_the_seed_shows() -> None:
    assert run(CONVERSATION, *CANDIDATES).content == EXPECTED


def test_everything_luna_has_is_accounted_for() -> None:
    assembled = run(CONVERSATION, *CANDIDATES)
    assert assembled.tokens == -(-len(EXPECTED) // 4)
    assert not assembled.truncated
    assert list(codes(assembled)) == [
        "identity", "instructions", "goals", "context", "rules", "day14", "day13", "structure", "audience", "bullets",
        "notion", "knowledge",
    ]  # fmt: skip
    assert {ref for ref, code in codes(assembled).items() if code == "empty"} == {"context", "rules"}
    assert {ref for ref, code in codes(assembled).items() if code == "required"} == {"identity", "instructions"}
