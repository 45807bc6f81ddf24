"""Long dated conversations to measure with: those of the folder that DATA names, or invented ones of the same size."""

import datetime
import json
import os
import random
from pathlib import Path

SESSIONS, TURNS = 25, 24
SUBJECTS = [
    "the garden",
    "a new job",
    "the old bicycle",
    "our holiday in the hills",
    "a pottery class",
    "the neighbour's dog",
]
VERBS = ["thought about", "forgot", "finished", "talked about", "paid for", "dreamt of", "asked about", "was glad of"]
WHEN = ["yesterday", "last week", "in spring", "on Sunday", "twice this month", "before the rain came"]


def conversations(folder: Path) -> list[Path]:
    """The conversation files; invented ones are written into the folder."""
    if data := os.environ.get("DATA"):
        return sorted(Path(data).glob("*.json"))
    made = [folder / f"invented-{number}.json" for number in range(5)]
    for number, file in enumerate(made):
        file.write_text(json.dumps(_invented(random.Random(number))), encoding="utf-8")
    return made


def questions(file: Path) -> list[str]:
    """What may be asked about the conversation."""
    return [entry["question"] for entry in json.loads(file.read_text(encoding="utf-8"))["qa"]]


def last_session(file: Path) -> datetime.datetime:
    """When the last session with turns took place, in UTC."""
    data = json.loads(file.read_text(encoding="utf-8"))
    dates = [data[f"{name}_date_time"] for name in data if f"{name}_date_time" in data]
    return max(datetime.datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=datetime.UTC) for text in dates)


def _invented(chance: random.Random) -> dict[str, object]:
    conversation: dict[str, object] = {"speaker_a": "Ada", "speaker_b": "Ben"}
    day = datetime.datetime(2024, 1, 5, 13, 30, tzinfo=datetime.UTC)
    for session in range(1, SESSIONS + 1):
        day += datetime.timedelta(days=chance.randint(1, 9))
        conversation[f"session_{session}_date_time"] = (
            day.strftime("%I:%M %p on %d %B, %Y").lower().replace(day.strftime("%B").lower(), day.strftime("%B"))
        )
        conversation[f"session_{session}"] = [
            {"speaker": "Ada" if turn % 2 else "Ben", "dia_id": f"D{session}:{turn}", "text": _sentence(chance)}
            for turn in range(1, TURNS + 1)
        ]
    asked = [f"Who {chance.choice(VERBS)} {chance.choice(SUBJECTS)}?" for _ in range(100)]
    return conversation | {"qa": [{"question": question} for question in asked]}


def _sentence(chance: random.Random) -> str:
    return " ".join(
        f"I {chance.choice(VERBS)} {chance.choice(SUBJECTS)} {chance.choice(WHEN)}."
        for _ in range(chance.randint(1, 4))
    )
