"""This module splits a document into chunks for search, along headings, paragraphs, functions and sentences.

A chunk has 400 to 1,200 characters where the text allows it, about 100 to 300 tokens: long enough to be understood
alone, short enough that the mean vector of its words has a direction and that several chunks fit a section of 2,000
tokens. On this project's own pages and modules the average is 520 to 580 characters.
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
"""Characters that are split at once. The cost of a very long line grows with its square: a million characters take 26
s.
"""
MAX_CODE_LINE_CHARACTERS = 2_000
"""Code with longer lines was generated; it is split as plain text, which takes a twentieth of the time."""

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
"""Languages by the names that editors use for them, and by file extensions."""


@dataclass(frozen=True, slots=True)
class TextChunk:
    """The characters from `start` to `end` of a text; the first one is on line `line` (from 1)."""

    start: int
    end: int
    line: int
    text: str


def split_text(*, path: str, language: str, text: str) -> list[TextChunk]:
    """Return the chunks of the text in order, without the white space between them; none is empty.

    The language decides how the text is split: `language` if it is known, otherwise the extension of `path`.
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
    """Yield parts of the text with their start positions. A part consists of whole lines unless a line is too long."""
    start = 0
    while start < len(text):
        end = start + BLOCK_CHARACTERS
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        yield text[start:end], start
        start = end
