"""This work gave the old installation its records: everything that they can hold, and changes afterwards.

It goes through the REST API that commit 1ba078c had; what had no address there is run by that code's own Python.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from tests.upgrade.old_api import OldApi

DELETED = "gone"
"""The slug of an agent that is deleted in the end."""

HOUSE_PROFILE = """name: house
description: Answers of the house, with what the harbour office says.
budget: 6000
similarity_threshold: 0.24
depth_limit: 2
ranker: default
weights: {{relevance: 0.4, recency: 0.2, salience: 0.1, credibility: 0.2, coherence: 0.1}}
over_budget: [drop, compact, summarise]
fill: true
cut_at: {cut_at}
quality_min: 0.2
sections:
  - {{key: identity, heading: Identity, layer: L1, source: agent_files, shape: text, required: true}}
  - {{key: rules, heading: Team Rules, layer: L2, source: team_files, shape: text, cap: 400}}
  - {{key: personal_memories, heading: Memories, layer: L5, source: agent_memories, shape: lines, cap: 600, top_k: 4}}
  - {{key: recent_events, heading: Recent Activity, layer: L6, source: recent_events, shape: blocks, share: 20}}
  - {{key: semantic_content, heading: Content, layer: L6, source: semantic_content, shape: blocks, share: 20}}
  - {{key: entities, heading: Known Entities, layer: L6, source: entities, shape: blocks, share: 10, overflow: drop}}
  - {{key: relations, heading: Relationships, layer: L6, source: relations, shape: blocks, share: 10}}
  - {{key: harbour, heading: Harbour Office, layer: L6, source: external, shape: blocks, share: 10}}
  - {{key: {second}, heading: Second Office, layer: L6, source: external, shape: blocks, share: 10}}
  - {{key: additional_context, heading: Notes, layer: L6, source: additional_context, shape: blocks, share: 20}}
  - {{key: turns, heading: Turns, layer: L6, source: turns, shape: turns, share: 20}}
"""
INCLUDED = "chapters/01-ferry-stage.md"
RULE = """description: What the walk must say.
when:
  any:
    - task_contains: [ferry, ledger]
    - profile: house
then:
  always_include:
    - path: {included}
    - kg_entity: Agnes
  boost:
    - source: agent_memories
      weight: {weight}
  exclude:
    - source: threads
"""
TURNS = [
    *({"role": "user", "content": f"The map of leg {leg} shows the wrong quay. Look again. " * 12} for leg in range(8)),
    {"role": "assistant", "content": "Which of the two quays do you mean? Both stand in the survey. " * 10},
    {"role": "user", "content": "The eastern one, by the chapel steps."},
]
LONG_RESULT = "".join(
    f"Leg {leg} of the walk is {leg * 90} metres long and takes {leg * 2} minutes. " for leg in range(60)
)

# Python of the old code, for what has no address in its API: two records of 40 days ago, one of them flagged; a list of
# contexts as a file; what browsers and editors leave.
LONG_AGO = """
from datetime import datetime, timedelta, timezone
from unittest import mock
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.account.models import EmailAddress
from django.contrib.sessions.backends.db import SessionStore
from agents.models import Agent
from assembly.asked import Asked
from assembly.context_files.services import context_file_begin
from assembly.retention.flags import assembly_flag
from assembly.service import assemble
from teams.models import Team, User
from teams.presence import presence_note
from teams.principal import SYSTEM
from teams.set_aside import text_set_aside
agent, team = Agent.objects.get(slug="otis"), Team.objects.get(slug="visitor-care")
then = datetime.now(timezone.utc) - timedelta(days=40)
with mock.patch("assembly.record.timezone.now", return_value=then):
    old = [assemble(agent=agent, team=team, asked=Asked(topic=topic, profile="coding", additional_context=topic * 9),
                     principal=SYSTEM).assembly for topic in ("The lamps of last season. ", "Prices of last season. ")]
assembly_flag(assembly=old[0], note="Asked for by the auditor", principal=SYSTEM)
admin = User.objects.get(username="admin")
TOTP.activate(admin, generate_totp_secret())
EmailAddress.objects.create(user=admin, email="admin@example.org", primary=True, verified=True)
presence_note(person_id=admin.pk, about=f"agent_file:{agent.files.first().pk}")
text_set_aside(person_id=admin.pk, about=f"agent_file:{agent.files.first().pk}", content="Half a thought", based_on=1)
context_file_begin(parameters={}, kind="csv", principal=admin.principal)
session = SessionStore()
session["_auth_user_id"] = str(admin.pk)
session.set_expiry(datetime(2100, 1, 1, tzinfo=timezone.utc))
session.create()
"""
PRUNE = "from assembly.retention.pruning import records_prune; print(records_prune())"


def work(api: OldApi, run: Callable[[str], str], drain: Callable[[], None], others_port: int, closed_port: int) -> None:
    """Use everything that leaves something in records; `run` runs Python in the old code."""
    _arrange(api, others_port, closed_port)
    contexts = _assemble(api)
    _append(api, contexts)
    _discuss(api, contexts)
    _change(api)
    for request in _requests():
        if request["agent"] != DELETED:
            api.post("assemblies", request)
    run(LONG_AGO)
    drain()
    api.send("PUT", "teams/visitor-care/retention", {"days": 30, "keep_flagged": True}, If_None_Match="*")
    print(run(PRUNE))
    for number, alert in enumerate(api.get("alerts?state=open")["results"][:3]):
        api.post(f"alerts/{alert['id']}/{('see', 'settle', 'see')[number]}")


def _arrange(api: OldApi, others_port: int, closed_port: int) -> None:
    """Make profiles, rules, external sources, a webhook and agents."""
    api.post("external-sources", {"name": "harbour", "label": "Harbour office", "url": f"http://127.0.0.1:{others_port}/ask",
                                  "secret": "a-secret-of-the-harbour"})  # fmt: skip
    api.post("external-sources", {"name": "nobody", "label": "Nobody there", "url": f"http://127.0.0.1:{closed_port}/"})
    api.post("external-sources", {"name": "late", "label": "Late office", "url": f"http://127.0.0.1:{others_port}/late",
                                  "timeout_ms": 100})  # fmt: skip
    api.post("webhooks", {"team": "story-room", "label": "Studio", "url": f"http://127.0.0.1:{others_port}/hook",
                          "events": ["alert.opened", "alert.closed"]})  # fmt: skip
    api.post("profiles", {"name": "house", "content": HOUSE_PROFILE.format(cut_at="sentence", second="nobody")})
    coding = api.get("profiles/coding")["content"]
    api.change("profiles/coding", {"content": coding.replace("budget: 32000", "budget: 30000")})
    api.post("rules", {"name": "the-walk", "team": "story-room", "content": RULE.format(included=INCLUDED, weight=2.0)})
    api.post("rules", {"name": "quiet", "agent": "luna", "content": "then: {exclude: [{source: tools}]}\n"})
    api.post("rules", {"name": "decided", "content": "then: {boost: [{memory_kind: decision, weight: 3}]}\n"})
    for slug, name in ((DELETED, "Gone"), ("marta", "Márta")):
        instructions = f"{name} schließt die Läden. 灯を消す。\n\n" + "Say which lamp burns. " * 200
        api.post("agents", {"slug": slug, "name": name, "teams": ["story-room"], "timezone": "Europe/Budapest",
                            "instructions": instructions})  # fmt: skip
    for owner in (f"agents/{DELETED}", "agents/marta", "teams/story-room"):
        items = [
            {"kind": "fact", "text": text, "external_id": f"m{number}", "salience": 0.2 * number}
            for number, text in enumerate([
                "Der Fährmann hat das Buch nicht im Haus, sondern in der Kapelle versteckt.",
                "El libro del barquero está escrito con tinta que no se borra con el agua.",
                "The ferry left the eastern quay at nine, and nobody rang the bell.",
                "The ferry left the eastern quay at nine; nobody rang the bell.",
            ])
        ]  # fmt: skip
        api.post(f"{owner}/memories/batch", {"items": items})
    _store(api, "marta")
    _store(api, DELETED)


def _store(api: OldApi, slug: str) -> None:
    """Store one and more of everything that an agent has."""
    root = f"agents/{slug}"
    api.post(f"{root}/sessions", {"title": "The quay", "external_id": "quay"})
    for number, (kind, content, more) in enumerate([
        ("message", {"role": "user", "text": "Which quay is it?"}, {}),
        ("file_write", {"path": "map.py", "diff": "-west\n+east"}, {"outcome": "success"}),
        ("tool_result", {"result": LONG_RESULT}, {"tool": "measure", "outcome": "success"}),
        ("error", {"message": "No such quay: west"}, {"outcome": "failure"}),
    ]):  # fmt: skip
        event = {"type": kind, "content": content, "session_key": "quay", "external_id": f"e{number}", **more}
        api.post(f"{root}/events", event)
    ids = [api.post(f"{root}/entities", {"type": "place", "name": name, "aliases": [name[:3]], "salience": 0.6,
                                         "properties": {"tags": "quay"}})["id"]
           for name in ("Eastern Quay", "Ferry", "Chapel Steps")]  # fmt: skip
    for source, target in ((0, 1), (1, 2)):
        api.post(f"{root}/relations", {"source": ids[source], "target": ids[target], "type": "near", "weight": 0.7})
    api.post(f"{root}/patterns", {"name": "Measure twice", "keywords": ["ferry", "quay"], "applications": 4,
                                  "successes": 3, "guidance": "Walk it yourself."})  # fmt: skip
    api.post(f"{root}/threads", {"title": "Which quay", "summary": "The eastern one, most likely."})
    api.post(f"{root}/tools", {"name": "measure", "description": "Measures a leg of the walk along the quay.",
                               "schema": {"type": "object", "properties": {"leg": {"type": "integer"}}}})  # fmt: skip
    stage = "# Ferry stage\n\nThe ferry waits at the eastern quay.\n\n" + LONG_RESULT
    for path, text in (
        (INCLUDED, stage),
        ("notes/fähre.md", "Die Fähre fährt nicht bei Nebel, und der Steg ist zu.\n"),
    ):
        api.post(f"{root}/documents", {"path": path, "content": text, "is_open": path == INCLUDED})
    session = api.get(f"{root}/sessions")["results"][0]["id"]
    for stack in (None, session):
        for goal in ("Draw the map of the walk", "Find the quay", "Ask the ferryman"):
            api.post(f"{root}/task-stack/push", {"goal": goal, "session": stack})
        api.post(f"{root}/task-stack/pop", {"result": "He says: the eastern one.", "session": stack})
    api.post(f"{root}/daily-logs/{time.strftime('%Y-%m-%d')}", {"text": "Walked to the eastern quay and back."})


def _requests() -> list[dict[str, Any]]:
    """Return requests with each profile and each field that a request may have."""
    marta, luna = ({"agent": agent, "team": "story-room"} for agent in ("marta", "luna"))
    topic = "Where does the ferry leave, and who has the ledger?"
    found: list[dict[str, Any]] = [
        marta,
        {"agent": "marta"},
        {**marta, "topic": topic},
        {**marta, "topic": "Wo liegt das Buch des Fährmanns?", "max_tokens": 700},
        {**marta, "topic": topic, "tokenizer": "chars4", "max_tokens": 900},
        {**marta, "max_tokens": 0},
        {**marta, "topic": "A thing that nobody spoke of: tax law of Peru", "budgets": {"quality_min": 0.9}},
        {**marta, "topic": topic, "now": "2026-03-01T12:00:00Z"},
        {**marta, "profile": "house", "topic": topic, "session": "quay", "history": TURNS,
         "additional_context": "The studio is closed on Monday. " * 40},
        {**marta, "profile": "house", "topic": "ferry", "max_tokens": 600},
        {**luna, "profile": "house", "topic": "Agnes and the ledger"},
        {**marta, "agent": DELETED, "profile": "coding", "session": "quay", "topic": topic},
        {**marta, "agent": DELETED, "topic": topic},
    ]  # fmt: skip
    for profile in ("coding", "research", "operations", "stack"):
        wide = {**marta, "profile": profile, "session": "quay", "history": TURNS, "additional_context": "Fog."}
        found += [
            {**wide, "topic": topic, "format": "messages"},
            {**wide, "topic": f"Fix the map: {topic}", "max_tokens": 1500},
            {**wide, "max_tokens": 900},
            {**luna, "profile": profile, "topic": "Chapter five is late", "max_tokens": 2500},
        ]
    strategy = {
        "weights": {"recency": 0.5}, "depth_limit": 1, "similarity_threshold": 0.3, "top_k": {"entities": 2},
        "caps": {"knowledge": None, "rules": 60}, "budget_allocation": {"recent_events": 30}, "omit": ["tools"],
        "over_budget": ["drop"], "fill": False, "cut_at": "sentence",
    }  # fmt: skip
    found.append({**marta, "profile": "coding", "topic": topic, "strategy": strategy, "max_tokens": 1200})
    return found


def _assemble(api: OldApi) -> list[dict[str, Any]]:
    """Send the requests, one with filters, some again. Returns the answers."""
    event = api.get("agents/marta/events?type=message")["results"][0]["id"]
    filters = {"event_types": ["message", "tool_result"], "entity_types": ["place"], "exclude": [f"event:{event}"],
               "since": "2026-01-01T00:00:00Z"}  # fmt: skip
    filtered = {"agent": "marta", "profile": "operations", "session": "quay", "filters": filters}
    requests = _requests()
    answers = [api.post("assemblies", request) for request in [*requests, filtered, requests[2], requests[2]]]
    if not any(answer["repeats"] for answer in answers):
        sys.exit("Nothing was answered from the cache.")
    for _ in range(2):  # the second time, the first answer comes again, without another record
        api.send("POST", "assemblies", requests[3], Idempotency_Key="once")
    return answers


def _append(api: OldApi, contexts: list[dict[str, Any]]) -> None:
    """Add to finished contexts: a new event, one more, and an event that is there already."""
    event = {"type": "tool_result", "tool": "measure", "content": {"result": LONG_RESULT}}
    first = api.post(f"assemblies/{contexts[2]['id']}/append", {"event": event})
    api.post(f"assemblies/{first['id']}/append", {"event": {"type": "message", "content": {"text": "And the bell?"}}})
    known = api.get("agents/marta/events")["results"][-1]["id"]
    api.post(f"assemblies/{contexts[14]['id']}/append", {"event_id": known})


def _discuss(api: OldApi, contexts: list[dict[str, Any]]) -> None:
    """Flag contexts, propose changes of them, and ask about them."""
    api.send("PUT", f"assemblies/{contexts[0]['id']}/flag", {"note": "The first of all"})
    for number, status in ((2, "accepted"), (3, "dismissed"), (4, "")):
        changes = {"max_tokens": 800, "caps": {"knowledge": 50}}
        proposal = api.post("proposals", {"assembly": contexts[number]["id"], "wishes": changes, "note": "Shorter"})
        if status:
            api.post(f"proposals/{proposal['id']}/decision", {"status": status})
    api.get(f"assemblies/{contexts[2]['id']}/again")
    api.get(f"assemblies/{contexts[2]['id']}/why-not?q=ferry")
    api.post("import?dry_run=true", api.get("agents/luna/export"))
    api.post("trials", {"agent": "marta", "team": "story-room", "files": {"GOALS": "Light the lamps."}})


def _change(api: OldApi) -> None:
    """Change, retire, merge and delete what records were made of."""
    api.change("teams/story-room/files/GOALS", {"content": "Light every lamp before nine.\n", "note": "Shorter"})
    api.change("agents/marta/files/KNOWLEDGE", {"content": "The quay is the eastern one.\n" * 300, "note": "All of it"})
    api.change("agents/luna/files/INSTRUCTIONS", {"content": "Say it slowly.\n", "note": ""})
    one, two, three, four = api.get("agents/marta/memories?limit=4")["results"]
    api.change(f"agents/marta/memories/{one['id']}", {"text": "The ferry leaves at ten.", "pinned": True}, "PATCH")
    api.change(f"agents/marta/memories/{two['id']}", {"retired": True, "reason": "It was found."}, "PATCH")
    seen = [{"id": memory["id"], "version": 1} for memory in (three, four)]
    api.post("agents/marta/memories/merge", {"keep": three["id"], "memories": seen, "text": "It is in the chapel."})
    for kind in ("events", "documents", "relations", "patterns"):
        gone = api.get(f"agents/marta/{kind}")["results"][0]["id"]
        api.delete(f"agents/marta/{kind}/{gone}")
    team_memory = api.get("teams/story-room/memories")["results"][0]["id"]
    api.delete(f"teams/story-room/memories/{team_memory}")
    api.change("profiles/house", {"content": HOUSE_PROFILE.format(cut_at="paragraph", second="late")})
    api.delete("profiles/coding")
    api.change("rules/the-walk", {"content": RULE.format(included=INCLUDED, weight=0.5)})
    api.change("rules/decided", {"content": "then: {boost: [{memory_kind: decision, weight: 3}]}\n", "enabled": False})
    api.delete("rules/quiet")
    api.delete("external-sources/nobody")
    log = api.get("agents/marta/daily-logs")["results"][0]
    api.change(f"agents/marta/daily-logs/{log['date']}", {"content": "Nothing happened.", "note": "Rewritten"})
    api.delete(f"agents/{DELETED}")
