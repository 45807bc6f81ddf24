"""Text that people wrote: the sentences of the docstrings in the packages that are installed here, file by file.

Real sentences have what invented ones lack: few words that are frequent and very many that are rare, in the mixture of
the language; what stands in one file speaks of one subject. Each sentence is given once.
"""

import itertools
import random
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("purelib", "stdlib")
LARGEST_FILE = 1_000_000
LEAST_WORDS, MOST_WORDS = 5, 60
SENTENCES_A_DAY = 24
QUESTION_WORDS = range(6, 15)
SPEAKERS = ("Ada", "Ben")
ASKED = ("{sentence}?", "What did {speaker} say about this: {sentence}?", "When did {speaker} mention {sentence}?")
DAYS_A_QUESTION = 20
"""One day in so many has a sentence less, which is asked about instead."""

_DOCSTRING = re.compile(r'^\s*[rR]?"""(.+?)"""', re.MULTILINE | re.DOTALL)
_BETWEEN = re.compile(r"(?<=[.?!:])\s+(?=[A-Z])|\n\s*\n|\n\s*[-*>:.]")
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class Talk:
    """What two speakers say day by day, and what may be asked about it."""

    days: list[list[str]]
    questions: list[str]
    """Sentences of the same files, short as questions are, that nobody says."""


def talk_of(days: list[list[str]], seed: int, lines: int) -> Talk:
    """So many lines; for another seed, the days have another order. Where there are too few, they come again."""
    chance = random.Random(seed)
    talk = Talk([], [])
    order = itertools.cycle(chance.sample(days, k=len(days)))
    while lines > 0:
        day = next(order)
        short = [sentence for sentence in day if len(_WORD.findall(sentence)) in QUESTION_WORDS]
        asked = chance.choice(short) if short and len(day) > 1 and not chance.randrange(DAYS_A_QUESTION) else None
        said = [f"{chance.choice(SPEAKERS)}: {sentence}" for sentence in day if sentence != asked][:lines]
        talk.days.append(said)
        talk.questions.extend(_asked(chance, asked) if asked else [])
        lines -= len(said)
    return talk


def _asked(chance: random.Random, sentence: str) -> Iterator[str]:
    yield chance.choice(ASKED).format(speaker=chance.choice(SPEAKERS), sentence=sentence.rstrip(".!?:"))


def written_days() -> list[list[str]]:
    """What one file says, divided into days; the files in the order of their names."""
    seen: set[str] = set()
    days = []
    for file in _files():
        sentences = [sentence for sentence in _sentences(file) if sentence not in seen]
        sentences = list(dict.fromkeys(sentences))
        seen.update(sentences)
        days += [sentences[start : start + SENTENCES_A_DAY] for start in range(0, len(sentences), SENTENCES_A_DAY)]
    return days


def _files() -> Iterator[Path]:
    for name in FOLDERS:
        folder = Path(sysconfig.get_paths()[name])
        for file in sorted(folder.rglob("*.py")):
            if (name == "purelib" or "site-packages" not in file.parts) and file.stat().st_size < LARGEST_FILE:
                yield file


def _sentences(file: Path) -> Iterator[str]:
    for docstring in _DOCSTRING.findall(file.read_text(encoding="utf-8", errors="ignore")):
        for part in _BETWEEN.split(docstring):
            sentence = " ".join(part.split())
            words = _WORD.findall(sentence)
            # Tables, signatures and examples are no sentences.
            if LEAST_WORDS <= len(words) <= MOST_WORDS and sum(map(len, words)) > len(sentence.replace(" ", "")) * 0.8:
                yield sentence
