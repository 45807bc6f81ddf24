"""Splitting: exact places, no empty piece, an end with any input; documents get their chunks once."""

import os
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models import Agent
from memories.embeddings.indexing import document_split, split_documents
from memories.embeddings.splitting import BLOCK_CHARACTERS, CAPACITY, TextChunk, split_text
from memories.embeddings.wordllama import MODEL_NAME
from memories.models import Chunk, Document, Job
from memories.services.document import DOCUMENTS_PER_JOB, document_update, documents_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import StaleVersion

CHARACTERS = 1_000_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 200_000
PATHS = ["a.md", "a.markdown", "a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.rs", "a.java", "a.c", "a.h", "a.sh", "a.txt"]

PYTHON = '''"""Included stock."""


def counted(items: list[str]) -> dict[str, int]:
    """How often each item is there."""
    return {item: items.count(item) for item in items}


class Shelf:
    """A shelf with items."""

    def __init__(self, items: list[str]) -> None:
        self.items = items
'''


def check(text: str, pieces: list[TextChunk]) -> None:
    for piece in pieces:
        assert piece.text == text[piece.start : piece.end]
        assert piece.text.strip()
        assert piece.line == text.count("\n", 0, piece.start) + 1
        assert len(piece.text) <= CAPACITY[1]
    for before, after in pairwise(pieces):
        assert before.end <= after.start
    kept = set().union(*(range(piece.start, piece.end) for piece in pieces))
    assert all(character.isspace() for place, character in enumerate(text) if place not in kept)


texts = st.one_of(
    st.text(),
    st.text(alphabet="ab \n\t#`-é🙂\r", max_size=3_000),
    st.lists(st.sampled_from(["# Title", "- item", "```", "def f():", "    pass", "{", "}", "ünïcode 🙂", ""])).map(
        "\n".join
    ),
    st.builds(lambda part, times: part * times, st.text(min_size=1, max_size=40), st.integers(1, 800)),
)


@settings(deadline=None)
@given(texts, st.sampled_from(PATHS))
def test_pieces_are_exact_and_nothing_but_white_space_is_left_out(text: str, path: str) -> None:
    check(text, split_text(path=path, language="", text=text))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "text",
    [
        "x" * CHARACTERS,
        "word " * (CHARACTERS // 5),
        "\n" * CHARACTERS,
        "(" * CHARACTERS,
        "🙂é" * (CHARACTERS // 2),
        "def f(a):\n    return a + 1\n\n" * (CHARACTERS // 29),
        "".join(random.Random(1).choices([chr(code) for code in range(1, 256)], k=CHARACTERS)),
    ],
    ids=["one word", "words", "blank lines", "brackets", "unicode", "code", "binary"],
)
def test_very_many_characters_of_anything_come_to_an_end(text: str, path: str) -> None:
    text = text if path in {"a.md", "a.txt", "a.py"} else text[:100_000]
    pieces = split_text(path=path, language="", text=text)
    assert pieces or not text.strip()
    assert all(piece.text == text[piece.start : piece.end] for piece in pieces)


def test_markdown_is_split_at_its_headings() -> None:
    text = "".join(f"# Part {number}\n\n{'Some sentence. ' * 30}\n\n" for number in range(4))
    pieces = split_text(path="guide.md", language="", text=text)
    assert [piece.text.partition("\n")[0] for piece in pieces] == [f"# Part {number}" for number in range(4)]
    assert [piece.line for piece in pieces] == [1, 5, 9, 13]


def test_code_is_split_between_its_parts() -> None:
    text = PYTHON * 4
    for path, language in (("shop/stock.py", ""), ("stock", "Python"), ("stock.txt", "python")):
        firsts = {piece.text.partition("\n")[0] for piece in split_text(path=path, language=language, text=text)}
        assert firsts <= {'"""Included stock."""', "class Shelf:", "def counted(items: list[str]) -> dict[str, int]:"}


def test_the_language_goes_before_the_ending() -> None:
    text = "# one\n" + "word " * 200 + "\n# two\n" + "word " * 200
    assert split_text(path="a.py", language="markdown", text=text) == split_text(path="a.md", language="", text=text)
    assert split_text(path="a.md", language="klingon", text=text) == split_text(path="a.md", language="", text=text)


def test_long_texts_are_split_at_line_ends() -> None:
    text = ("a" * 99 + "\n") * (3 * BLOCK_CHARACTERS // 100)
    pieces = split_text(path="a.txt", language="", text=text)
    check(text, pieces)
    assert all(piece.start % 100 == 0 for piece in pieces)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t \n"])
def test_of_nothing_there_is_no_piece(text: str) -> None:
    assert split_text(path="a.md", language="", text=text) == []


# --- Documents ---

TEXT = "# Tea\n\n" + "Green tea wants water of 80 degrees. " * 40


def added(agent: Agent, number: int = 1, **facts: object) -> list[Document]:
    rows = [{"path": f"notes/{place}.md", "content": TEXT, **facts} for place in range(number)]
    return documents_create(agent=agent, facts=rows, principal=SYSTEM)


def chunks_of(document: Document) -> list[tuple[int, int, str, int]]:
    rows = Chunk.objects.filter(document=document, agent=document.agent_id, embedding_model=MODEL_NAME)
    rows = rows.exclude(embedding=None).order_by("position")
    return list(rows.values_list("start", "end", "text", "document_version"))


@pytest.mark.django_db
def test_new_documents_are_split_in_jobs_of_fifty(agent: Agent) -> None:
    documents = added(agent, 2 * DOCUMENTS_PER_JOB + 1)
    jobs = Job.objects.order_by("id")
    assert [(job.kind, job.steps, job.agent) for job in jobs] == [
        ("split_documents", steps, agent) for steps in (50, 50, 1)
    ]
    assert [id_ for job in jobs for id_ in job.arguments["documents"]] == [str(document.id) for document in documents]


@pytest.mark.django_db
def test_a_job_that_runs_twice_leaves_the_same(agent: Agent) -> None:
    documents = added(agent, 3)
    steps: list[int] = []
    expected = [(piece.start, piece.end, piece.text, 1) for piece in split_text(path="a.md", language="", text=TEXT)]
    for _ in range(2):
        split_documents(Job.objects.get(), steps.append)
        assert [chunks_of(document) for document in documents] == [expected] * 3
    assert steps == [1] * 6
    assert set(Document.objects.values_list("split_version", "version")) == {(1, 1)}


@pytest.mark.django_db
def test_a_changed_text_replaces_the_chunks(agent: Agent) -> None:
    [document] = added(agent)
    document_split(id_=document.id)
    changed = document_update(thing=document, expected_version=1, changes={"content": "Coffee."}, principal=SYSTEM)
    assert Job.objects.count() == 2
    document_split(id_=document.id)
    assert chunks_of(changed) == [(0, 7, "Coffee.", 2)]
    before = Document.objects.get(id=document.id).updated
    document_split(id_=document.id)
    assert Document.objects.get(id=document.id).updated == before == changed.updated


@pytest.mark.django_db
def test_opening_a_document_keeps_its_chunks(agent: Agent) -> None:
    [document] = added(agent)
    document_split(id_=document.id)
    before = [chunk[:3] for chunk in chunks_of(document)]
    opened = document_update(thing=document, expected_version=1, changes={"is_open": True}, principal=SYSTEM)
    assert (opened.version, opened.split_version) == (2, 2)
    assert chunks_of(opened) == [(*chunk, 2) for chunk in before]
    assert Job.objects.count() == 1


@pytest.mark.django_db
def test_opening_a_document_that_waits_leaves_it_to_its_job(agent: Agent) -> None:
    [document] = added(agent)
    opened = document_update(thing=document, expected_version=1, changes={"is_open": True}, principal=SYSTEM)
    assert (opened.version, opened.split_version) == (2, 0)
    split_documents(Job.objects.get(), lambda _: None)
    assert {chunk[3] for chunk in chunks_of(opened)} == {2}


@pytest.mark.django_db
def test_an_update_that_changes_nothing_or_is_stale_starts_no_job(agent: Agent) -> None:
    [document] = added(agent)
    document_update(thing=document, expected_version=1, changes={"content": TEXT}, principal=SYSTEM)
    with pytest.raises(StaleVersion):
        document_update(thing=document, expected_version=7, changes={"content": "x"}, principal=SYSTEM)
    assert Job.objects.count() == 1


@pytest.mark.django_db
def test_a_document_that_is_gone_counts_as_done(agent: Agent) -> None:
    documents = added(agent, 2)
    documents[0].delete()
    steps: list[int] = []
    split_documents(Job.objects.get(), steps.append)
    assert steps == [1, 1]
