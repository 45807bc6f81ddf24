"""Importing a dated conversation: sessions become daily logs, turns become memories, and once is enough."""

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.models import Agent, DailyLog, DailyLogVersion
from agents.services import agent_create, daily_log_append
from memories.imports import conversation as conversation_module
from memories.models import Memory
from memories.search.memory_search import find_memories
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

# Invented for this test; only the format is that of LoCoMo.
BAKERY: dict[str, Any] = {
    "speaker_a": "Mira",
    "speaker_b": "Jules",
    "session_1_date_time": "9:05 pm on 3 March, 2024",
    "session_1": [
        {"speaker": "Mira", "dia_id": "D1:1", "text": "The oven is back.\n\nAt last!"},
        {"speaker": "Jules", "dia_id": "D1:2", "text": "Look at it.", "blip_caption": "a photo of a brick oven"},
        {"speaker": "Mira", "dia_id": "D1:3", "text": "Rye tomorrow?", "img_url": ["x"], "query": "rye"},
    ],
    "session_2_date_time": "12:30 am on 3 March, 2024",
    "session_2": [{"speaker": "Jules", "dia_id": "D2:1", "text": "Cannot sleep."}],
    "session_3_date_time": "7:00 am on 5 April, 2024",
    "session_4_date_time": "7:00 am on 6 April, 2024",
    "session_4": [{"speaker": "Mira", "dia_id": "D4:1", "text": "Sold out by nine."}],
    "qa": [{"question": "What came back?", "evidence": ["D1:1"]}],
    "events_session_1": {"Mira": []},
    "session_1_observation": "not a turn",
}


def changed(**changes: Any) -> dict[str, Any]:
    data = json.loads(json.dumps(BAKERY))
    return {**data, **changes}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bakery.json"
    path.write_text(json.dumps(BAKERY))
    return path


def load(path: Path, capsys: Any, agent: str = "baker") -> str:
    call_command("import_conversation", str(path), "--agent", agent)
    captured = capsys.readouterr()
    assert captured.err == ""
    return str(captured.out)


def counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Agent, DailyLog, DailyLogVersion, Memory))


def test_sessions_become_logs_and_turns_memories(file: Path, capsys: Any) -> None:
    said = load(file, capsys)
    assert "3 sessions, 5 turns; 2 daily logs (2 changed), 5 memories (5 new)." in said
    agent = Agent.objects.get(slug="baker")
    march = agent.daily_logs.get(date=datetime.date(2024, 3, 3)).content
    assert march == (
        "#### 00:30 Jules\n\n**Jules:** Cannot sleep.\n\n#### 21:05 Mira and Jules\n\n"
        "**Mira:** The oven is back. At last!\n\n**Jules:** Look at it. (Picture: a photo of a brick oven)\n\n"
        "**Mira:** Rye tomorrow?"
    )
    recent = find_memories(owner=agent, vector=None, similar=0, recent=9)
    assert [memory.text for memory in recent] == [
        "Mira: Sold out by nine.",
        "Mira: Rye tomorrow?",
        "Jules: Look at it. (Picture: a photo of a brick oven)",
        "Mira: The oven is back.\n\nAt last!",
        "Jules: Cannot sleep.",
    ]
    assert {memory.kind for memory in recent} == {"message"}
    assert recent[1].occurred_at == datetime.datetime(2024, 3, 3, 21, 5, 2, tzinfo=datetime.UTC)


def test_importing_again_from_elsewhere_adds_nothing(file: Path, tmp_path: Path, capsys: Any) -> None:
    load(file, capsys)
    before = counts()
    moved = tmp_path / "elsewhere" / "renamed.json"
    moved.parent.mkdir()
    moved.write_text(json.dumps(BAKERY, indent=3))
    assert "2 daily logs (0 changed), 5 memories (0 new)" in load(moved, capsys)
    assert counts() == before


def test_a_conversation_that_went_on_adds_what_is_new(file: Path, capsys: Any) -> None:
    load(file, capsys)
    turn = {"speaker": "Jules", "dia_id": "D5:1", "text": "Again!"}
    file.write_text(json.dumps(changed(session_5=[turn], session_5_date_time="8:00 pm on 6 April, 2024")))
    assert "2 daily logs (1 changed), 6 memories (1 new)" in load(file, capsys)
    assert DailyLog.objects.get(date="2024-04-06").content.endswith("#### 20:00 Jules\n\n**Jules:** Again!")


def test_two_conversations_of_one_agent_do_not_collide(file: Path, capsys: Any) -> None:
    load(file, capsys)
    other = [{"speaker": "Ana", "dia_id": "D1:1", "text": "The van broke down."}]
    file.write_text(json.dumps({"session_1": other, "session_1_date_time": BAKERY["session_1_date_time"]}))
    assert "1 daily log (1 changed), 1 memory (1 new)" in load(file, capsys)
    march = DailyLog.objects.get(date="2024-03-03").content
    assert "Rye tomorrow?" in march
    assert march.endswith("**Ana:** The van broke down.")


def test_a_log_that_is_there_is_added_to(file: Path, capsys: Any) -> None:
    agent = agent_create(slug="baker", name="Baker")
    daily_log_append(agent=agent, date=datetime.date(2024, 4, 6), text="Flour came.", principal=SYSTEM)
    load(file, capsys)
    assert (
        DailyLog.objects.get(date="2024-04-06").content
        == "Flour came.\n\n#### 07:00 Mira\n\n**Mira:** Sold out by nine."
    )


def with_turn(**turn: Any) -> str:
    return json.dumps(changed(session_4=[{"speaker": "Mira", "dia_id": "D4:1", "text": "Hm.", **turn}]))


BROKEN: dict[str, tuple[str, str]] = {
    "not json": ('{"session_1": [\n oops', "bakery.json, line 2 is not JSON"),
    "empty": ("", "bakery.json, line 1 is not JSON"),
    "too deep": ("[" * 200_000, "is JSON that no conversation needs"),
    "huge number": (f'{{"a": {"9" * 5000}}}', "is JSON that no conversation needs"),
    "a list": ("[]", "is not an object with session_1"),
    "no sessions": ('{"qa": []}', "has no session with turns"),
    "only dates": ('{"session_1_date_time": "7:00 am on 5 April, 2024"}', "has no session with turns"),
    "session is an object": (json.dumps(changed(session_2={"a": 1})), "session_2 is not a list of turns"),
    "turn is a text": (json.dumps(changed(session_2=["hi"])), "turn 1 of session_2 is not an object"),
    "no date": (json.dumps(changed(session_4_date_time=None)), "session_4_date_time is None; write it like"),
    "another date": (json.dumps(changed(session_4_date_time="2024-04-06")), "session_4_date_time is '2024-04-06'"),
    "no such day": (json.dumps(changed(session_4_date_time="7:00 am on 31 April, 2024")), "is '7:00 am on 31 April"),
    "no text": (with_turn(text="  "), "turn 1 of session_4 has no text"),
    "text is a number": (with_turn(text=7), "turn 1 of session_4 has no text"),
    "no speaker": (with_turn(speaker=None), "turn 1 of session_4 has no speaker"),
    "no id": (with_turn(dia_id=""), "turn 1 of session_4 has no dia_id"),
    "id too long": (with_turn(dia_id="D" * 101), "its dia_id has more than 100 characters"),
    "same id twice": (with_turn(dia_id="D1:2"), "two turns have the dia_id D1:2"),
    "nul": (with_turn(text="a\0b"), "its text has a character that cannot be stored"),
    "lone surrogate": (with_turn(text="\ud800"), "its text has a character that cannot be stored"),
    "caption is a list": (with_turn(blip_caption=["x"]), "turn 1 of session_4 has no blip_caption"),
    "turn too long": (with_turn(text="x" * 20_000), "has more than 20,000 characters"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_stores_nothing(file: Path, capsys: Any, content: str, message: str) -> None:
    file.write_text(content)
    with pytest.raises(CommandError) as error:
        load(file, capsys)
    assert message in str(error.value)
    assert counts() == (0, 0, 0, 0)


def test_a_file_that_is_not_there(tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(CommandError, match=r"gone\.json cannot be read"):
        load(tmp_path / "gone.json", capsys)


def test_failing_in_the_middle_leaves_nothing_behind(file: Path, capsys: Any, monkeypatch: Any) -> None:
    def out_of_order(**_: Any) -> int:
        raise RuntimeError("the last step failed")

    monkeypatch.setattr(conversation_module, "memories_store", out_of_order)
    with pytest.raises(RuntimeError):
        load(file, capsys)
    assert counts() == (0, 0, 0, 0)


@pytest.mark.skipif("DOSSIER_LOCOMO" not in os.environ, reason="DOSSIER_LOCOMO names no folder of conversations")
def test_real_conversations_are_imported_whole(capsys: Any) -> None:
    files = sorted(Path(os.environ["DOSSIER_LOCOMO"]).glob("*.json"))
    assert files
    for path in files:
        turns = [turn for key, value in json.loads(path.read_text()).items() if _is_session(key) for turn in value]
        agent = f"locomo-{path.stem}"
        load(path, capsys, agent)
        assert Memory.objects.filter(agent__slug=agent).count() == len(turns)
        assert "(0 new)" in load(path, capsys, agent)


def _is_session(key: str) -> bool:
    return key.removeprefix("session_").isdecimal()
