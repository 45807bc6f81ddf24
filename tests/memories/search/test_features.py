"""What SQL and numpy measure of rows is what plain Python says of them."""

import datetime
import math
import random
import statistics
from collections import Counter

import numpy as np
import pytest

from agents.models import Agent
from memories.embeddings.wordllama import embed
from memories.models import Memory
from memories.search.features import KINSHIP
from memories.search.memory_search import rows_with_features, topic_vector
from memories.search.question import parse_question
from memories.search.row_format import ids_of
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

# Words that full text neither stems nor drops, so that Python can tell who has which.
WORDS = ["tram", "kiosk", "violin", "harbor", "lamp", "wolf", "zinc"]

NAMES = ["Ada", "Ben"]
START = datetime.datetime(2023, 5, 1, 22, tzinfo=datetime.UTC)
TODAY = datetime.date(2023, 10, 25)
EPSILON = 2e-3


def random_facts(chance: random.Random) -> list[MemoryFacts]:
    at, facts = START, []
    for _ in range(chance.randint(1, 40)):
        at += datetime.timedelta(minutes=chance.choice([1, 5, 90, 1_500]))
        said = " ".join(chance.choices([*WORDS, "yesterday"], k=chance.randint(1, 6)))
        label = chance.choice(["", "", *(f"{name}: " for name in NAMES)])
        text = f"{label}{said}{chance.choice(['.', '?'])}"
        facts.append(MemoryFacts(kind="fact", text=text, occurred_at=at, salience=chance.random()))
    return facts


def words_of(text: str) -> set[str]:
    return {word.strip(".?:").lower() for word in text.split()}


def expected(memories: list[Memory], query: str) -> list[dict[str, float]]:
    """The features of each memory, row by row, as their docstrings say."""
    asked = words_of(query) - {"when", "did", "in"}
    had = [words_of(memory.text) & asked for memory in memories]
    idf = {
        word: math.log(1 + (len(memories) - count + 0.5) / (count + 0.5))
        for word in asked
        for count in [sum(word in words for words in had)]
    }
    dates = [memory.occurred_at.date() for memory in memories if memory.occurred_at]
    vector = topic_vector(query)
    cosines = [
        0.0 if vector is None or direction is None else float(vector.vector @ direction)
        for direction in embed([memory.text for memory in memories])
    ]
    in_may = [float(date.month == 5) for date in dates]
    said = [float("yesterday" in memory.text) for memory in memories]
    time_tells = min(1, -math.log((sum(said) + 0.5) / (len(said) + 1)) / 2)

    lengths = [len(memory.text) for memory in memories]
    mean_length = statistics.fmean(lengths)

    def bm25(rows_with: Counter[str], relative_length: float) -> float:
        saturation = 1.2 * (0.25 + 0.75 * relative_length)
        return sum(idf[word] * 2.2 * n / (n + saturation) for word, n in rows_with.items()) / sum(idf.values())

    def neighbour(place: int, step: int) -> int | None:
        other = place + step
        return other if 0 <= other < len(memories) and dates[other] == dates[place] else None

    rows = []
    for place, memory in enumerate(memories):
        before, after = neighbour(place, -1), neighbour(place, 1)
        around = [other for other in (before, place, after) if other is not None]
        day = [other for other in range(len(memories)) if dates[other] == dates[place]]
        length = math.sqrt(len(memory.text))
        length_before = math.sqrt(len(memories[before].text)) if before is not None else 0.0
        cosine_before = cosines[before] if before is not None else 0.0
        joined = math.sqrt(length**2 + length_before**2 + 2 * KINSHIP * length * length_before)
        rows.append(
            {
                "similarity_z": cosines[place],
                "similarity_with_previous_z": (length * cosines[place] + length_before * cosine_before) / joined,
                "similarity_of_day_z": max(cosines[other] for other in day),
                "words": sum(idf[word] for word in had[place]) / sum(idf.values()),
                "words_z": bm25(Counter(had[place]), lengths[place] / mean_length),
                "words_around_z": bm25(
                    Counter(word for other in around for word in had[other]),
                    sum(lengths[other] for other in around) / (3 * mean_length),
                ),
                "words_of_day_z": bm25(
                    Counter(word for other in day for word in had[other]),
                    sum(lengths[other] for other in day) / (25 * mean_length),
                ),
                "labelled": float(any(memory.text.startswith(f"{name}: ") for name in NAMES if name in query)),
                "date": in_may[place] * (1 - sum(in_may) / len(in_may)),
                "near_date": 0.0,
                "time_said": said[place] * time_tells,
                "relative_length": min(max(math.log((lengths[place] + 20) / (mean_length + 20)), -3), 2),
                "brevity": 1 / (1 + (mean_length / 300) ** 3),
                "asks": float(memory.text.endswith("?")),
                "after_question": float(before is not None and memories[before].text.endswith("?")),
                "salience": memory.salience,
                "credibility": 0.5,
            }
        )
    total = sum(idf.values())
    chances = {word: (sum(word in words for words in had) + 0.5) / (len(memories) + 1) for word in asked}
    by_chance = sum(idf[word] / total * chance for word, chance in chances.items())
    spread = sum((idf[word] / total) ** 2 * chance * (1 - chance) for word, chance in chances.items()) ** 0.5
    nearness = statistics.fmean(cosines)
    squares = sum((cosine - nearness) ** 2 for cosine in cosines) + 10 * 0.1**2
    deviation = math.sqrt(squares / (len(cosines) + 10))
    for row in rows:
        for name in [name for name in row if name.endswith("_z")]:
            mean, unit = (by_chance, spread) if "words" in name else (nearness, deviation)
            row[name] = (row[name] - mean) / unit
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_sql_and_numpy_measure_what_plain_python_says(agent: Agent, seed: int) -> None:
    chance = random.Random(seed)
    made = memories_create(owner=agent, facts=random_facts(chance), principal=SYSTEM)
    query = f"When did {chance.choice(NAMES)} {' '.join(chance.sample(WORDS, 3))} in May 2023?"
    rows, measures = rows_with_features(agent, parse_question(query, topic_vector(query), TODAY), least=1)
    assert ids_of(rows) == [memory.id for memory in made]
    wanted = expected(made, query)
    for name, values in measures.items():
        np.testing.assert_allclose(values, [row[name] for row in wanted], atol=EPSILON, err_msg=f"{name}, seed {seed}")
