"""Texts to compare: what hypothesis draws, and large ones."""

import random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""On a busy machine all takes longer: no test here is about time."""

LETTERS = "ab \n\t,.*#-|`[]()éß漢👍🏽\u202e\r"

short_texts = st.text(LETTERS, max_size=60)
related_texts = st.lists(
    st.sampled_from(["Ship it.\n", "\n", "- one\n", "- two words\n", "# A title\n", "```\n", "word ", "| a | b |\n"]),
    max_size=14,
).map("".join)
any_texts = short_texts | related_texts


def prose(characters: int, seed: int) -> str:
    """Words from a small vocabulary in lines of 3 to 25 of them."""
    draw = random.Random(seed)
    vocabulary = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 8))) for _ in range(3000)]
    lines = [" ".join(draw.choices(vocabulary, k=draw.randint(3, 25))) for _ in range(characters // 25)]
    return "\n".join(lines)[:characters]
