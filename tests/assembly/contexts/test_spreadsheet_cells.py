"""No cell of a CSV is taken for a formula, whichever program opens it and wherever that splits."""

# ruff: noqa: RUF001 - the signs that look alike are the matter of these tests
import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.contexts.exports import COLUMNS, EXPORT_FORMATS
from config.http.csv_files import safe_cell

pytestmark = pytest.mark.finding("6.5")

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫−"
INVISIBLE = ' \u00a0\u2003\u3000\t\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e"“”\x00\x1f'
FORMULA = re.compile(rf"[{INVISIBLE}]*[{re.escape(SIGNS)}]")
SPLITTERS = [",", ";", "\t", "|"]
texts = st.text(alphabet=st.sampled_from(list(SIGNS + INVISIBLE + ";,|\r\n'1aäz()")), max_size=30) | st.text(
    max_size=30
)


def written(topic: str) -> str:
    """The CSV with one row that has the topic."""
    row = dict.fromkeys(COLUMNS, "x") | {"topic": topic}
    return EXPORT_FORMATS["csv"].write([row])


def cells(content: str) -> list[str]:
    """Every cell that a program could find: read as CSV with each separator, and split naively by lines and signs."""
    found = [part for line in content.splitlines() for part in re.split(r"[,;\t|]", line)]
    for splitter in SPLITTERS:
        found += [cell for row in csv.reader(io.StringIO(content, newline=""), delimiter=splitter) for cell in row]
    return found


@given(texts)
def test_no_program_finds_a_formula(topic: str) -> None:
    assert [cell for cell in cells(written(topic)) if FORMULA.match(cell)] == []


@given(texts)
def test_no_cell_begins_with_a_tab_or_a_line_end(topic: str) -> None:
    [row] = csv.reader(io.StringIO(written(topic), newline=""))
    assert not row[COLUMNS.index("topic")].startswith(("\t", "\r", "\n"))


@given(texts)
def test_nothing_but_apostrophes_is_added(topic: str) -> None:
    assert safe_cell(topic).replace("'", "") == topic.replace("'", "")


@pytest.mark.parametrize(
    "topic",
    [
        "=1+1",
        "\n=1+1",
        "＝1+1",
        " =1+1",
        "x;=1+1",
        "x,=1+1",
        "a\tb\t@SUM(A1)",
        "\ufeff=1",
        '"=1',
        "\r",
        "plain\r\n-2",
        "；\n＋1",
    ],
)
def test_the_forms_that_were_found(topic: str) -> None:
    assert safe_cell(topic) != topic
    assert [cell for cell in cells(written(topic)) if FORMULA.match(cell)] == []


@pytest.mark.parametrize(
    "topic", ["", "plain", "a-b=c", "mail@example.org", "what is 1+1; and 2-1?", "it's, well, fine"]
)
def test_other_texts_stay_as_they_are(topic: str) -> None:
    assert safe_cell(topic) == topic


def test_every_csv_is_written_by_the_one_function() -> None:
    root = Path(__file__).parents[3]
    apps = ("agents", "assembly", "config", "memories", "teams")
    writers = [
        path.relative_to(root).as_posix()
        for app in apps
        for path in (root / app).rglob("*.py")
        if re.search(r"csv\.(?:Dict)?[Ww]riter\(", path.read_text())
    ]
    assert writers == ["config/http/csv_files.py"]
