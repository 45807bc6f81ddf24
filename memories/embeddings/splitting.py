"""Splitting a document into the pieces that search finds: along headings, paragraphs, functions, sentences.

A piece has 400 to 1,200 characters where the text allows it, about 100 to 300 tokens: enough to be understood alone,
few enough that the mean of its words still points in one direction, and that several fit a section of 2,000 tokens. On
this project's own pages and modules that makes 520 to 580 characters on average.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_bash
import tree_sitter_c
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from semantic_text_splitter import CodeSplitter, MarkdownSplitter, TextSplitter

CAPACITY = (400, 1_200)  # characters
BLOCK_CHARACTERS = 20_000
"""What is split at once. A line that never ends costs time by its square: whole, a million characters take 26 s."""
MAX_CODE_LINE_CHARACTERS = 2_000
"""Code with longer lines was made by a program; it is split as plain text, which takes a twentieth of the time."""

Splitter = TextSplitter | MarkdownSplitter | CodeSplitter

GRAMMARS: dict[str, Callable[[], object]] = {
    "bash": tree_sitter_bash.language,
    "c": tree_sitter_c.language,
    "go": tree_sitter_go.language,
    "java": tree_sitter_java.language,
    "javascript": tree_sitter_javascript.language,
    "python": tree_sitter_python.language,
    "rust": tree_sitter_rust.language,
    "tsx": tree_sitter_typescript.language_tsx,
    "typescript": tree_sitter_typescript.language_typescript,
}
LANGUAGES = {
    "bash": "bash sh shell shellscript zsh",
    "c": "c h",
    "go": "go golang",
    "java": "java",
    "javascript": "javascript javascriptreact js jsx mjs cjs",
    "markdown": "markdown md",
    "python": "python py pyi",
    "rust": "rust rs",
    "tsx": "tsx typescriptreact",
    "typescript": "typescript ts mts cts",
}
LANGUAGE_OF = {word: language for language, words in LANGUAGES.items() for word in words.split()}
"""By what editors call them and by the endings of files."""


@dataclass(frozen=True, slots=True)
class TextChunk:
    """The characters from `start` to `end` of a text, the first of them in line `line` (from 1)."""

    start: int
    end: int
    line: int
    text: str


def split_text(*, path: str, language: str, text: str) -> list[TextChunk]:
    """The text's pieces in its order, without the white space between them; none is empty.

    `language` decides how, where it is known; otherwise the ending of `path` does.
    """
    named = _language(path, language)
    pieces: list[TextChunk] = []
    line, counted = 1, 0
    for block, start_of_block in _blocks(text):
        for offset, found in _splitter(_usable_language(named, block)).chunk_indices(block):
            if not found.strip():  # the splitter takes some control characters for text
                continue
            start = start_of_block + offset
            line, counted = line + text.count("\n", counted, start), start
            pieces.append(TextChunk(start=start, end=start + len(found), line=line, text=found))
    return pieces


def is_code(*, path: str, language: str) -> bool:
    """Return whether the text of that path is split as code."""
    return _language(path, language) in GRAMMARS


def _language(path: str, language: str) -> str:
    ending = PurePosixPath(path).suffix.removeprefix(".").lower()
    return LANGUAGE_OF.get(language.strip().lower()) or LANGUAGE_OF.get(ending, "")


def _usable_language(language: str, block: str) -> str:
    is_readable = all(len(line) <= MAX_CODE_LINE_CHARACTERS for line in block.split("\n"))
    return language if is_readable or language not in GRAMMARS else ""


@cache
def _splitter(language: str) -> Splitter:
    if language in GRAMMARS:
        return CodeSplitter(GRAMMARS[language](), CAPACITY)
    return MarkdownSplitter(CAPACITY) if language == "markdown" else TextSplitter(CAPACITY)


def _blocks(text: str) -> Iterator[tuple[str, int]]:
    """Parts of the text with where they start, each of whole lines unless a line is longer than a block."""
    start = 0
    while start < len(text):
        end = start + BLOCK_CHARACTERS
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        yield text[start:end], start
        start = end
