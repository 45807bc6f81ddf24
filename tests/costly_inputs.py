"""The worst inputs of pages and endpoints that compare, preview, search and import: tests and benchmarks share them.

Each is as large as its route takes it, and of the kind that costs most there.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

FILE_CHARACTERS = 1_000_000
"""As many as a file may have."""


def _lines_of_words(seed: int, characters: int) -> str:
    chance, lines, length = random.Random(seed), [], 0
    while length < characters:
        lines.append(" ".join(f"w{chance.getrandbits(16):x}" for _ in range(10)))
        length += len(lines[-1]) + 1
    return "\n".join(lines)[:characters]


def _shuffled(text: str, seed: int) -> str:
    lines = text.split("\n")
    random.Random(seed).shuffle(lines)
    return "\n".join(lines)


def comparisons(characters: int = FILE_CHARACTERS) -> Mapping[str, Callable[[], tuple[str, str]]]:
    """Pairs of texts, each of so many characters, by what is bad about them."""
    return {
        "all lines different": lambda: (_lines_of_words(1, characters), _lines_of_words(2, characters)),
        "lines moved": lambda: (_lines_of_words(1, characters), _shuffled(_lines_of_words(1, characters), 3)),
        "equal tokens": lambda: ("a " * (characters // 2), "a " * (characters // 2 - 7)),
        "two repeated lines": lambda: ("a\nb\n" * (characters // 4), "b\na\na\n" * (characters // 6)),
        "one letter": lambda: ("a" * characters, "a" * (characters - 1)),
        "one long line": lambda: (
            _lines_of_words(1, characters).replace("\n", " "),
            _lines_of_words(2, characters).replace("\n", " "),
        ),
        "alternating": lambda: ("a b " * (characters // 4), "b a c " * (characters // 6)),
        "signs": lambda: ("!?" * (characters // 2), "?!." * (characters // 3)),
        "spaceless script": lambda: ("漢字" * (characters // 2), "字漢語" * (characters // 3)),
        "line ends": lambda: ("\n" * characters, "\n" * (characters - 5)),
        "every other line changed": lambda: (
            "".join(f"same {number}\nold {number}\n" for number in range(characters // 26)),
            "".join(f"same {number}\nnew {number}\n" for number in range(characters // 26)),
        ),
        "brackets": lambda: ("[" * characters, "[" * (characters // 2) + "]" * (characters // 2)),
        "nested lists": lambda: (_nested(characters), _nested(characters).replace("x", "y")),
    }


def _nested(characters: int) -> str:
    return "\n".join(f"{'  ' * (number % 40)}- x{number}" for number in range(characters // 50))


def merges(characters: int = FILE_CHARACTERS) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Three texts each: what both were made from, one's and the other's."""
    for name, pair in comparisons(characters).items():
        one, other = pair()
        yield name, (one, other, _shuffled(one, 5))
        yield f"{name}, from nothing", ("", one, other)


def previews(characters: int = FILE_CHARACTERS) -> Mapping[str, str]:
    """Texts that cost most to be shown as Markdown."""
    return {
        "brackets": "[" * characters,
        "links": "[a](" * (characters // 4),
        "named links": "[a][b" * (characters // 5),
        "table": "|a|b|\n|-|-|\n" + "|x|y|\n" * (characters // 6),
        "headings": "# a\n" * (characters // 4),
        "letters": "a" * characters,
        "emphasis": "*a _b " * (characters // 6),
    }


def zipped(texts: Mapping[str, str]) -> bytes:
    """A zip of the texts by their names, packed as small as possible."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file.getvalue()


def archive_of_owners(count: int = 19_000) -> bytes:
    """Many agents with a short file each."""
    return zipped({f"agents/a{number}/IDENTITY.md": f"I am number {number}." for number in range(count)})


def archive_of_memories(slug: str, count: int = 35_000) -> bytes:
    """One agent with many memories."""
    return zipped({f"agents/{slug}/MEMORY.md": "\n".join(f"- [fact] number {number}" for number in range(count))})


def archive_of_logs(slug: str, count: int = 190, characters: int = FILE_CHARACTERS) -> bytes:
    """One agent with long daily logs that pack to next to nothing."""
    text = "word " * (characters // 5)
    days = (f"{2020 + number // 336}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}" for number in range(count))
    return zipped({f"agents/{slug}/memory/{day}.md": text for day in days})
