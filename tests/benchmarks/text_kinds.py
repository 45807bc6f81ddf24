"""Kinds of text beyond conversations, with questions whose evidence is known, made of what is installed here.

People wrote all of it, and it is free to use: the Python language reference and the standard library's code (PSF
licence), and the read-me files, change logs and licences of the installed packages, which name their own. The files
have the form of conversations: a document is a session, its title the speaker, a passage a turn. No question stands in
its passage word for word: a docstring is taken out of its function, a heading from above its section, a sentence out
of its paragraph; of an entry in a change log, only some of the words are left.

`python -m tests.benchmarks.text_kinds FOLDER` writes KIND/NAME.json and `sources.yaml` for `train_ranker`.
"""

import ast
import datetime
import json
import pydoc_data.topics
import random
import re
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

import yaml

MOST_CHARACTERS = 3_800
"""Of a passage: a memory holds 4,000 with its title."""
MOST_QUESTIONS = 480
TRAINING_QUESTIONS = 120
"""Of a file that the shipped ranker was trained on. Others have more: one of 120 questions is .008 of a figure."""
FIRST_DAY = datetime.datetime(2024, 1, 8, 9, tzinfo=datetime.UTC)
DAYS_BETWEEN = (1, 5)
QUESTION_WORDS = range(3, 41)
PARAGRAPHS = (300, 800, 1_500, 2_500)
"""Paragraphs are joined up to one of these lengths in characters, so that an owner has short and long passages."""

SOURCES: Mapping[str, str] = {
    "changes": "change logs in the read-me files of installed packages; some words of an entry find its version",
    "code": "functions of Python's standard library and Django; the docstring's first sentence finds the code",
    "manuals": "read-me files of installed packages; a heading finds its section",
    "pages": "read-me files and the Python language reference in pages of 3,000 characters; questions as of those",
    "reference": "the Python language reference; a sentence finds the paragraph that it was taken from",
    "licences": "licence texts of installed packages; a sentence finds the paragraph that it was taken from",
}
"""By kind: what its texts are."""

HELD_OUT = ("protocols", "manuals-2", "pages-2", "reference-2", "licences-1")
"""Names of files that the shipped ranker was not trained on."""

PAGE = 3_000
"""The longest page, in characters."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_UNDERLINE = re.compile(r"""([=\-~^"*+])\1{2,}""")
_VERSION = re.compile(r"\d+\.\d+")
_MARKUP = re.compile(r"https?:\S+|[`*#\[\]()<>]")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document, and the questions that it answers."""

    text: str
    questions: tuple[str, ...] = ()
    speaker: str = ""
    """Who says it; without one, the document's title stands there."""


@dataclass(frozen=True, slots=True)
class Document:
    """Passages that stand below one title, one after the other."""

    title: str
    passages: Sequence[Passage]


def write_kinds(folder: Path) -> list[Path]:
    """Write the files of all kinds, and what they are made of. The same packages give the same files."""
    (folder / "sources.yaml").write_text(yaml.safe_dump(dict(SOURCES)), encoding="utf-8")
    stdlib, packages = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
    installed = sorted(distributions(), key=lambda one: one.metadata["Name"].lower())
    halves = [installed[::2], installed[1::2]]
    topics = [pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)]
    licences = _unlike(_read(file) for file in sorted(packages.glob("*.dist-info/**/*LICEN*")) if file.is_file())
    named: dict[str, Iterable[Document]] = {
        "code/asyncio": _code(sorted((stdlib / "asyncio").glob("*.py"))),
        "code/protocols": _code([*_modules(stdlib, "email"), *_modules(stdlib, "http"), *_modules(stdlib, "urllib")]),
        "code/orm": _code(sorted((packages / "django/db/models").glob("**/*.py"))),
        "manuals/manuals-1": (_manual(package) for package in halves[0]),
        "manuals/manuals-2": (_manual(package) for package in halves[1]),
        "changes/changes-1": (_changes(package) for package in installed),
        "pages/pages-1": _pages(
            [*(_manual(package) for package in halves[0]), *_paragraphs(topics[::2], random.Random(4))]
        ),
        "pages/pages-2": _pages(
            [*(_manual(package) for package in halves[1]), *_paragraphs(topics[1::2], random.Random(5))]
        ),
        "reference/reference-1": _paragraphs(topics[::2], random.Random(1)),
        "reference/reference-2": _paragraphs(topics[1::2], random.Random(2)),
        "licences/licences-1": _paragraphs(licences, random.Random(3)),
    }
    files = {folder / f"{name}.json": documents for name, documents in named.items()}
    return [
        write_file(file, documents, MOST_QUESTIONS if file.stem in HELD_OUT else TRAINING_QUESTIONS)
        for file, documents in files.items()
    ]


def write_file(file: Path, documents: Iterable[Document], most: int = MOST_QUESTIONS) -> Path:
    """Write the documents in the form of a conversation, each on a day of its own, with `most` questions."""
    chance, day = random.Random(file.stem), FIRST_DAY
    data: dict[str, object] = {}
    asked = []
    for number, document in enumerate((one for one in documents if len(one.passages) > 1), 1):
        day += datetime.timedelta(days=chance.randint(*DAYS_BETWEEN))
        date = f"{day:%d} {day:%B}, {day:%Y}"
        data[f"session_{number}_date_time"] = f"9:00 am on {date}"
        data[f"session_{number}"] = [
            {
                "speaker": passage.speaker or document.title,
                "dia_id": f"D{number}:{place}",
                "text": passage.text[:MOST_CHARACTERS],
            }
            for place, passage in enumerate(document.passages, 1)
        ]
        asked += [
            {"question": question, "category": 0, "evidence": [f"D{number}:{place}"]}
            for place, passage in enumerate(document.passages, 1)
            for question in passage.questions
        ]
    chance.shuffle(asked)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data | {"qa": asked[:most]}), encoding="utf-8")
    return file


def _modules(folder: Path, package: str) -> list[Path]:
    return sorted((folder / package).glob("*.py"))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _code(files: Iterable[Path]) -> Iterator[Document]:
    """Yield a document per module: its functions, without their docstrings."""
    for file in files:
        source = _read(file)
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
        yield Document(f"{file.parent.name}/{file.name}", [_function(node, source.splitlines()) for node in functions])


def _function(node: ast.FunctionDef, lines: Sequence[str]) -> Passage:
    code, questions = lines[node.lineno - 1 : node.end_lineno], tuple[str, ...]()
    if docstring := ast.get_docstring(node):
        said = node.body[0]
        code = [*lines[node.lineno - 1 : said.lineno - 1], *lines[said.end_lineno or 0 : node.end_lineno]]
        questions = _asked(_SENTENCE_END.split(" ".join(docstring.split("\n\n")[0].split()))[0])
    return Passage(textwrap.dedent("\n".join(code)), questions)


def _manual(package: Distribution) -> Document:
    """Return a package's read-me file: its sections, each without its heading."""
    name = package.metadata["Name"]
    passages = [
        Passage(body, _asked(f"{name} {heading}") if not _VERSION.search(heading) else ())
        for heading, body in _sections(_description(package))
    ]
    return Document(name, passages)


def _changes(package: Distribution) -> Document:
    """Return what a package's read-me file says of its versions."""
    name, chance = package.metadata["Name"], random.Random(package.metadata["Name"])
    sections = [section for section in _sections(_description(package)) if _VERSION.search(section[0])]
    return Document(name, [Passage(f"{heading}\n{body}", _recalled(body, name, chance)) for heading, body in sections])


def _recalled(body: str, name: str, chance: random.Random) -> tuple[str, ...]:
    """Return six of ten words of one entry, as somebody remembers it."""
    entries = [" ".join(_plain(entry).split()) for entry in re.split(r"\n\s*[-*+]\s+", f"\n{body}")]
    entries = [entry for entry in entries if len(entry.split()) > QUESTION_WORDS[0]]
    if not entries:
        return ()
    words = [word for word in chance.choice(entries).split() if chance.random() < 0.6]
    return _asked(f"{name} {' '.join(words[:15])}")


def _paragraphs(texts: Iterable[str], chance: random.Random) -> Iterator[Document]:
    """Yield a document per text, joined of paragraphs; from most of them, a sentence is taken out."""
    for text in texts:
        joined: list[str] = []
        for paragraph in re.split(r"\n\s*\n", text):
            if joined and len(joined[-1]) + len(paragraph) < chance.choice(PARAGRAPHS):
                joined[-1] += f"\n\n{paragraph}"
            elif paragraph.strip():
                joined.append(paragraph)
        title = " ".join(text.split())[:40]
        yield Document(title, [_without_a_sentence(passage, chance) for passage in joined])


def _pages(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the documents with their passages joined to pages, each with the questions of all its passages."""
    for document in documents:
        pages: list[Passage] = []
        for passage in document.passages:
            if pages and len(pages[-1].text) + len(passage.text) <= PAGE:
                pages[-1] = Passage(f"{pages[-1].text}\n\n{passage.text}", pages[-1].questions + passage.questions)
            else:
                pages.append(passage)
        yield Document(document.title, pages)


def _without_a_sentence(text: str, chance: random.Random) -> Passage:
    sentences = [one for one in _SENTENCE_END.split(text) if len(one.split()) in QUESTION_WORDS]
    if len(sentences) < 2:
        return Passage(text)
    taken = chance.choice(sentences)
    return Passage(text.replace(taken, " ", 1), _asked(taken))


def _unlike(texts: Iterable[str]) -> list[str]:
    """Return the long texts that share few lines with one before: a sentence should have one place alone."""
    unlike: list[tuple[str, set[str]]] = []
    for text in texts:
        lines = {line.strip().lower() for line in text.splitlines() if line.strip()}
        alike = any(len(lines & others) > min(len(lines), len(others)) / 5 for _, others in unlike)
        if len(text) > PARAGRAPHS[-1] and not alike:
            unlike.append((text, lines))
    return [text for text, _ in unlike]


def _description(package: Distribution) -> str:
    return str(package.metadata.get_payload() or package.metadata["Description"] or "")  # type: ignore[attr-defined]


def _sections(text: str) -> list[tuple[str, str]]:
    """Return heading and body of each section of a Markdown or reStructuredText file that has both."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    lines, is_code = text.splitlines(), False
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        is_code ^= line.lstrip().startswith("```")
        heading = None if is_code else _HEADING.match(line)
        if heading or (not is_code and line.strip() and _UNDERLINE.fullmatch(following.strip())):
            sections.append((_plain(heading[1] if heading else line), []))
        elif not _UNDERLINE.fullmatch(line.strip()):
            sections[-1][1].append(line)
    bodies = [(heading, "\n".join(body).strip()) for heading, body in sections]
    return [(heading, body) for heading, body in bodies if heading and body]


def _plain(text: str) -> str:
    return _MARKUP.sub(" ", text).strip()


def _asked(text: str) -> tuple[str, ...]:
    """Return the text as the only question, or none where it is too short or too long for one."""
    words = text.split()
    return (" ".join(words),) if len(words) in QUESTION_WORDS else ()


if __name__ == "__main__":
    for written in write_kinds(Path(sys.argv[1])):
        print(written)
