"""Keys and passwords are found in texts that strangers wrote, and what resembles them is not."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.secret_scanning.recognition import find_secrets
from tests.teams.secret_scanning.labelled_texts import figures_of, labelled_texts

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("writer", "recall"), [("first", 0.9), ("second", 0.8)])
def test_most_secrets_of_strangers_are_found_and_little_else(writer: str, recall: float) -> None:
    texts = [one for one in labelled_texts() if one.writer == writer]
    figures = figures_of(texts)
    assert len(texts) >= 200
    assert figures.recall >= recall
    assert figures.precision >= 0.96


def test_hardly_any_text_without_a_secret_is_refused() -> None:
    clean = [one for one in labelled_texts() if not one.secrets]
    assert len(clean) >= 200
    assert sum(bool(find_secrets(one.text)) for one in clean) <= 1


def test_the_documentation_has_none() -> None:
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert [text[found.start : found.end] for found in find_secrets(text)] == [], page


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The wifi password is Blue-Otter42!", "Blue-Otter42!"),
        ("The password for the CRM changed to Tulip#88.", "Tulip#88"),
        ("Das Passwort lautet jetzt Sommer2024!", "Sommer2024!"),
        ("login: bob / Summer2024!", "Summer2024!"),
        ("DB_PASSWORD=s3cr3tPass99", "s3cr3tPass99"),
        ("url?user=app&password=Ferry0Ticket&ssl=true", "Ferry0Ticket"),
        ("postgres://app:hunter2x@db/x", "hunter2x"),
        ('{"api_key": "9f8a7b6c5d4e3f2a1b0c"}', "9f8a7b6c5d4e3f2a1b0c"),
        ("SharedAccessKey=0fxLfp9NMIYmLiozUeHfeyjmpX5pGNet", "0fxLfp9NMIYmLiozUeHfeyjmpX5pGNet"),
        ("Authorization: Bearer abcdef1234567890abcd", "abcdef1234567890abcd"),
        ("curl -u jenkins:4f5e6d7c8b https://ci.example.org", "4f5e6d7c8b"),
        ("the key AKIA" + "J3MZ7Q2LX9KD5TBW was rotated", "AKIA" + "J3MZ7Q2LX9KD5TBW"),
        ("see dsr_" + "Ab3dEf9h_" + "k" * 43, "dsr_" + "Ab3dEf9h_" + "k" * 43),
        ("-----BEGIN " + "PRIVATE KEY-----\nMIIB\n-----END " + "PRIVATE KEY-----", None),
    ],
)
def test_these_are_found(text: str, secret: str | None) -> None:
    [found] = find_secrets(text)
    assert text[found.start : found.end] == (secret or text)


@pytest.mark.parametrize(
    "text",
    [
        "The password must have 12 characters, one of them a digit.",
        "Reset your password by 2025-01-01.",
        "password=os.environ['PW1']",
        "password: <your-password1>",
        "token budget: 4000, max_tokens=512",
        "The secret ingredient is cinnamon.",
        "The commit 9f8a7b6c5d4e3f2a1b0c changed the login page v2.4.",
        "postgres://app:${DB_PASSWORD}@db/x",
        "API_KEY=xxxxxxxxxxxxxxxx",
    ],
)
def test_these_are_no_secrets(text: str) -> None:
    assert find_secrets(text) == []


@given(st.text(max_size=300))
def test_findings_are_in_order_within_the_text_and_do_not_overlap(text: str) -> None:
    found = find_secrets(f"password: {text}")
    assert all(0 <= one.start < one.end <= len(text) + 10 for one in found)
    assert all(earlier.end <= later.start for earlier, later in pairwise(found))
