"""The seed's example, set up through REST, comes out byte for byte as its algorithm prescribes."""

import datetime
import json

import pytest

from tests.client import Api

pytestmark = pytest.mark.django_db

NOW = "2025-03-14T18:00:00Z"
CONTEXT = """\
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


@pytest.fixture
def story(admin_api: Api) -> Api:
    """Luna and her team, made by an admin's key."""
    created(admin_api, "teams", {"slug": "demo-q1", "name": "Demo Q1"})
    instructions = "Always respond with empathy. Prioritize storytelling..."
    luna = {"slug": "luna", "name": "Luna", "teams": ["demo-q1"], "instructions": instructions}
    created(admin_api, "agents", luna)
    for path, content in {
        "agents/luna/files/IDENTITY": "You are Luna, a creative writing assistant...",
        "agents/luna/files/KNOWLEDGE": "Reference materials for storytelling frameworks...",
        "teams/demo-q1/files/GOALS": "Ship the Q1 product demo by March 15...",
    }.items():
        assert admin_api.put(path, {"content": content}, if_match='"1"').status_code == 200
    for day, text in {
        "2025-03-13": "Reviewed plot outline for chapter 3...",
        "2025-03-14": "Discussed character arc revisions with user...",
        "2025-03-07": "Eight days ago, and no longer in the week.",
    }.items():
        created(admin_api, f"agents/luna/daily-logs/{day}", {"text": text})
    remember(admin_api, "teams/demo-q1", "context", "Target audience is enterprise product managers", 1)
    remember(admin_api, "teams/demo-q1", "decision", "Use three-act structure for the demo narrative", 2)
    remember(admin_api, "agents/luna", "learning", "User's team uses Notion for documentation", 1)
    remember(admin_api, "agents/luna", "preference", "User prefers concise bullet points over paragraphs", 2)
    return admin_api


def created(api: Api, path: str, body: object) -> None:
    response = api.post(path, body)
    assert response.status_code == 201, response.content


def remember(api: Api, owner: str, kind: str, text: str, day: int) -> None:
    occurred_at = datetime.datetime(2025, 3, day, tzinfo=datetime.UTC).isoformat()
    created(api, f"{owner}/memories", {"kind": kind, "text": text, "occurred_at": occurred_at})


def test_the_example_of_the_seed_comes_out_to_the_byte(story: Api) -> None:
    body = {"agent": "luna", "team": "demo-q1", "tokenizer": "chars4", "now": NOW}
    response = story.post("assemblies", body)
    assembly = json.loads(response.content)
    assert response.status_code == 201
    assert assembly["content"] == CONTEXT
    assert assembly["tokens"] == -(-len(CONTEXT) // 4)
    assert (assembly["budget"], assembly["truncated"], assembly["warnings"]) == (16_000, False, [])
    assert sum(section["tokens"] for section in assembly["sections"]) == assembly["tokens"]
    outcomes = [
        tuple(section[name] for name in ("layer", "label", "cap", "status")) for section in assembly["sections"]
    ]
    assert outcomes == [
        ("L1", "Identity", None, "whole"),
        ("L1", "Instructions", None, "whole"),
        ("L2", "Team Goals", None, "whole"),
        ("L2", "Team Context", None, "empty"),
        ("L2", "Team Rules", None, "empty"),
        ("L3", "Recent Activity", 3000, "whole"),
        ("L4", "Team Knowledge", 2000, "whole"),
        ("L5", "Personal Memories", 2000, "whole"),
        ("L7", "Knowledge Base", 2000, "whole"),
    ]  # fmt: skip


def test_it_replays_after_the_agent_and_the_team_were_deleted(story: Api) -> None:
    body = {"agent": "luna", "team": "demo-q1", "tokenizer": "chars4", "now": NOW}
    assembly = json.loads(story.post("assemblies", body).content)
    for path in ("agents/luna", "teams/demo-q1"):
        assert story.delete(path).status_code == 204
    again = story.post(f"assemblies/{assembly['id']}/replay")
    assert json.loads(again.content) == {"identical": True, "sha256": assembly["sha256"]}
    assert json.loads(story.get(f"assemblies/{assembly['id']}").content) == assembly
