"""Advisory locks have one space of numbers, so two locks with one number would be one lock."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
NUMBER = re.compile(r"^(?:\w+_)?LOCK(?:_NUMBER)? = (0x[\dA-F_]+|[\d_]+)$", re.MULTILINE)


def test_each_lock_has_a_number_of_its_own() -> None:
    numbers = [
        int(found, 0)
        for app in ("agents", "assembly", "config", "memories", "privacy", "teams")
        for file in (ROOT / app).rglob("*.py")
        for found in NUMBER.findall(file.read_text(encoding="utf-8"))
    ]
    assert len(numbers) >= 8
    assert {number for number, times in Counter(numbers).items() if times > 1} == set()
