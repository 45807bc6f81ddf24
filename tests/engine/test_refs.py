"""A ref is text with up to four parts, and taking it apart loses nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.refs import Ref, document_of, exclusion_names, without_version

ID = "01900000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"memory:{ID}@3", Ref("memory", ID, "3")),
        (f"memory:{ID}", Ref("memory", ID)),
        (f"chunk:{ID}@3#7", Ref("chunk", ID, "3", "7")),
        (f"daily_log:{ID}/2026-11-22@draft", Ref("daily_log", f"{ID}/2026-11-22", "draft")),
        ("turn:2", Ref("turn", "2")),
        ("external:mail:ada@example.org", Ref("external", "mail:ada@example.org")),
        ("external:mail:ada@example.org@4", Ref("external", "mail:ada@example.org", "4")),
        (ID, Ref("", ID)),
        (":x@1", Ref("", ":x", "1")),
        ("", Ref("", "")),
    ],
)
def test_a_ref_has_a_kind_an_id_a_version_and_a_part(text: str, parts: Ref) -> None:
    assert Ref.parse(text) == parts


@given(st.text() | st.from_regex(r"[a-z:@#0-9]*", fullmatch=True))
def test_every_text_survives_being_taken_apart(text: str) -> None:
    assert str(Ref.parse(text)) == text


@given(
    st.from_regex(r"[a-z_]+", fullmatch=True),
    st.uuids().map(str),
    st.from_regex(r"([0-9]+|[a-z]+)?", fullmatch=True),
    st.from_regex(r"([0-9]+)?", fullmatch=True),
)
def test_every_ref_survives_being_text(kind: str, id_: str, version: str, part: str) -> None:
    ref = Ref(kind, id_, version, part if version else "")
    assert Ref.parse(str(ref)) == ref


@given(st.from_regex(r"(memory|chunk|external:mail):[a-z0-9.@]*(@[0-9]+|@draft)?(#[0-9]+)?", fullmatch=True))
def test_the_functions_on_text_agree_with_the_value(text: str) -> None:
    ref = Ref.parse(text)
    assert without_version(text) == (text if ref.part or not ref.version else ref.item)


def test_a_version_has_a_number_unless_it_is_a_draft() -> None:
    assert [Ref.parse(text).number for text in ("memory:a@12", "memory:a@draft", "memory:a", "chunk:a@3#7")] == [
        12, None, None, 3,
    ]  # fmt: skip


def test_a_passage_stands_for_its_document() -> None:
    assert (document_of("chunk:a@3#7"), document_of("memory:a@3")) == ("document:a@3", "memory:a@3")
    assert (Ref.parse("chunk:a@3#7").item, without_version("chunk:a@3#7")) == ("chunk:a", "chunk:a@3#7")


def test_a_request_excludes_by_ref_item_or_id() -> None:
    assert exclusion_names("memory:a@3") == {"memory:a@3", "memory:a", "a"}
    assert exclusion_names("chunk:a@3#7") == {"chunk:a@3#7", "chunk:a", "a"}
