"""Where a text of Markdown may end. In the tables, ¦ stands at each end that is expected."""

import pytest

from assembly.engine.truncation import TextBoundaries, outline_of

END = "¦"


def marked(text: str, ends: list[int]) -> str:
    """The text with a mark at each of the ends, which come the longest first."""
    assert ends == sorted(ends, reverse=True)
    for end in ends:
        text = text[:end] + END + text[end:]
    return text


@pytest.mark.parametrize(
    "expected",
    [
        "Intro.¦\n\n# One\ntext¦\n## Two\ntext",
        "Intro.¦ \n\n   # One\n\n\n#hashtag\n    # indented\n####### seven\ntext",
        "Text.¦\n\nTitle\n=====\ntext¦\n\nTitle\n---\ntext",
        "Text.\n\nTwo lines\nof text\n---\n\n| a | b |\n|---|---|\n",
        "Text.¦\r\n\r\n# One\r\ntext¦\r\n\r\nTitle\r\n=====\r\n",
        "# One\n\n## Nothing stands under one\ntext¦\n# Two",
        "text\n\n```py\n# a comment\n```\ntext¦\n# One",
        "text\n\n```py\nx = 1\n```\n\n# Right after code the marker would stand on its last line\n",
        "text\n\n````\n```\n# still code\n````\ntext¦\n# One",
        "text\n~~~\n```\n# still code",
        "text\n```not``` code¦\n# One",
        "- item\n\n    ```sh\n    # code of the item\n    ```\n  text¦\n# One",
    ],
)
def test_ends_before_headings(expected: str) -> None:
    text = expected.replace(END, "")
    assert marked(text, list(TextBoundaries.of(text).before_headings(1, len(text)))) == expected


@pytest.mark.parametrize(
    "expected",
    [
        "one\ntwo¦\n\nthree¦ \n \t\nfour¦\r\n\r\nfive\n",
        "# Heading\n\ntext¦\n\n## Heading\n\ntext",
        "text¦\n\n```\na\n\nb\n```\n\ntext¦\n\n~~~\na\n\nb",
        "\n\ntext",
    ],
)
def test_ends_after_paragraphs(expected: str) -> None:
    text = expected.replace(END, "")
    assert marked(text, list(TextBoundaries.of(text).after_paragraphs(1, len(text)))) == expected


@pytest.mark.parametrize(
    ("sentences", "lines"),
    [
        ("One.¦ Two, e.g. this!¦ “Three?”¦ Four", "One.¦ Two, e.g.¦ this!¦ “Three?”¦ Four"),
        ("A sentence wrapped\nto the next line.¦\nAnd one", "A sentence wrapped¦\nto the next line.¦\nAnd one"),
        ("# Heading\n- item¦\n- item¦\n- item", "# Heading\n- item¦\n- item¦\n- item"),
        ("Text.¦\n```\nSome. Code.\n```\nText.¦ Text", "Text.¦\n```\nSome. Code.\n```\nText.¦ Text"),
        ("你好。¦再见\uff01\ufe00好。¦再见", "你好。¦再见\uff01\ufe00好。¦再见"),
    ],
)
def test_ends_after_sentences_and_lines(sentences: str, lines: str) -> None:
    text = lines.replace(END, "")
    boundaries = TextBoundaries.of(text)
    assert marked(text, list(boundaries.after_sentences(1, len(text)))) == sentences
    assert marked(text, list(boundaries.after_lines(1, len(text)))) == lines


def test_only_ends_within_the_bounds_count() -> None:
    boundaries = TextBoundaries.of("One.\n\n# A\ntext\n\n# B\ntext")
    assert list(boundaries.before_headings(4, 14)) == [14, 4]
    assert list(boundaries.before_headings(5, 13)) == []
    assert list(boundaries.after_paragraphs(4, 14)) == [14, 4]
    assert list(boundaries.after_sentences(4, 14)) == [14, 4]
    assert list(boundaries.after_sentences(5, 13)) == []


def test_fenced_code_reaches_to_its_own_mark_or_to_the_end() -> None:
    text = "a\n```py\nb\n~~~\n``\n```x\n```` \nc\n~~~\n"
    assert [text[one.start : one.end] for one in outline_of(text)] == ["```py\nb\n~~~\n``\n```x\n````", "~~~\n"]


def test_a_long_gap_is_read_once() -> None:
    text = "One." + " " * 100_000 + "two" + " " * 100_000 + "three.\nFour"
    assert list(TextBoundaries.of(text).after_lines(1, len(text))) == [len(text) - len("\nFour"), 4]
