"""Lists of contexts as files: a short one comes at once, a long one is prepared, for the one who asked alone."""

import csv
import io
import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.contexts import exports
from assembly.contexts.exports import row_of
from assembly.models import Assembly, ContextFile, ContextFilePart
from memories.jobs.services import KINDS
from memories.models import Job
from teams.models import Team, User
from tests.assembly.contexts.context_rows import context
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def listed(agent: Agent, team: Team) -> list[Assembly]:
    topics = ["plain", "=1+1", '@say "hi", all', "-2\nlines", "late"]
    rows = [context(agent, team, age=age, topic=topic) for age, topic in enumerate(topics)]
    return [*rows, context(agent, team, age=9, topic="warned", warnings=["SOURCE_TIMEOUT", "TIME_EXCEEDED"])]


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_the_page_says_what_is_in_the_file(signed_in: SignedIn, teammate: User, listed: list[Assembly]) -> None:
    page = text_of(signed_in(teammate).get("/contexts/download/?agent=luna&outcome=excluded"))
    assert "Agent: Luna, with excluded items, newest first" in page
    assert "<code>assembly_ms</code>" in page
    assert 'href="/contexts/?agent=luna&amp;outcome=excluded"' in page


def test_the_list_links_to_its_download(signed_in: SignedIn, teammate: User, listed: list[Assembly]) -> None:
    page = text_of(signed_in(teammate).get("/contexts/?agent=luna&limit=2"))
    assert 'href="/contexts/download/?agent=luna"' in page


def test_a_short_list_comes_at_once_and_is_safe_to_open(
    signed_in: SignedIn, teammate: User, listed: list[Assembly]
) -> None:
    response = signed_in(teammate).post("/contexts/download/?agent=luna", {"format": "csv"})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert re.search(r'filename="contexts-[\d-]+\.csv"', response["Content-Disposition"])
    rows = rows_of(response.content)
    assert [row["topic"] for row in rows] == [
        "plain", "'=1+1", "'@say \"hi\", all", "'-2\nlines", "late", "warned",
    ]  # fmt: skip
    assert rows[-1]["warnings"] == "SOURCE_TIMEOUT TIME_EXCEEDED"
    assert (rows[0]["created_at"], rows[0]["truncated"], rows[0]["tokens"]) == ("2026-11-20T12:00:00Z", "false", "900")
    assert rows[0]["id"] == str(listed[0].id)


def test_as_json_each_row_has_its_types(signed_in: SignedIn, teammate: User, listed: list[Assembly]) -> None:
    response = signed_in(teammate).post("/contexts/download/?warning=SOURCE_TIMEOUT", {"format": "json"})
    [row] = json.loads(response.content)
    assert (row["topic"], row["warnings"], row["tokens"]) == ("warned", ["SOURCE_TIMEOUT", "TIME_EXCEEDED"], 900)
    assert list(row) == list(row_of(listed[0]))


def test_an_empty_list_is_a_file_too(signed_in: SignedIn, outsider: User, listed: list[Assembly]) -> None:
    browser = signed_in(outsider)
    assert rows_of(browser.post("/contexts/download/", {"format": "csv"}).content) == []
    assert json.loads(browser.post("/contexts/download/", {"format": "json"}).content) == []


@pytest.mark.parametrize(("query", "kind"), [("agent=nobody", "csv"), ("", "xlsx"), ("", "")])
def test_what_cannot_be_made_is_told(
    query: str, kind: str, signed_in: SignedIn, teammate: User, listed: list[Assembly]
) -> None:
    response = signed_in(teammate).post(f"/contexts/download/?{query}", {"format": kind})
    assert response.status_code == 422
    assert "Export contexts" in text_of(response)


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MAX_IMMEDIATE_ROWS", 3)
    monkeypatch.setattr(exports, "ROWS_PER_PART", 2)


def done(job: Job, advanced: list[int]) -> None:
    KINDS[job.kind](job, advanced.append)


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.usefixtures("few_at_once")
def test_a_long_list_is_prepared_in_the_background(
    kind: str, signed_in: SignedIn, teammate: User, listed: list[Assembly], agent: Agent
) -> None:
    browser = signed_in(teammate)
    address = browser.post("/contexts/download/?agent=luna", {"format": kind})["Location"]
    assert "Export in progress" in text_of(browser.get(address))
    assert browser.get(f"{address}file/")["Location"] == address
    context(agent, topic="later than the file", created=timezone.now())
    file, advanced = ContextFile.objects.get(), list[int]()
    assert file.job
    done(file.job, advanced)
    assert (sum(advanced), Job.objects.get().steps) == (6, 6)
    assert "The export is ready" in text_of(browser.get(address))
    content = browser.get(f"{address}file/").content
    rows = rows_of(content) if kind == "csv" else json.loads(content)
    assert [row["id"] for row in rows] == [str(one.id) for one in listed]


def test_a_job_that_was_interrupted_goes_on_after_what_it_has(
    few_at_once: None, signed_in: SignedIn, teammate: User, listed: list[Assembly]
) -> None:
    signed_in(teammate).post("/contexts/download/", {"format": "csv"})
    file, advanced = ContextFile.objects.get(), list[int]()
    assert file.job

    def stopping(rows: int) -> None:
        advanced.append(rows)
        if sum(advanced) >= 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        KINDS[file.job.kind](file.job, stopping)
    assert ContextFilePart.objects.count() == 2
    again = list[int]()
    done(file.job, again)
    assert again == [4, 2]
    content = signed_in(teammate).get(f"/contexts/lists/{file.id}/file/").content
    assert [row["id"] for row in rows_of(content)] == [str(one.id) for one in listed]


@pytest.mark.usefixtures("few_at_once")
def test_the_file_is_for_the_one_who_asked_and_for_a_day(
    signed_in: SignedIn, teammate: User, owner: User, admin: User, listed: list[Assembly]
) -> None:
    browser = signed_in(teammate)
    address = browser.post("/contexts/download/", {"format": "csv"})["Location"]
    for other in (owner, admin):
        assert signed_in(other).get(address).status_code == 404
        assert signed_in(other).get(f"{address}file/").status_code == 404
    assert browser.get(f"/contexts/lists/{uuid4()}/").status_code == 404
    ContextFile.objects.update(created=timezone.now() - timedelta(days=1, minutes=1))
    assert browser.get(address).status_code == 404
    browser.post("/contexts/download/", {"format": "json"})
    assert ContextFile.objects.count() == 1


def test_what_one_may_not_see_any_more_is_not_in_it(
    few_at_once: None, signed_in: SignedIn, teammate: User, team: Team, listed: list[Assembly]
) -> None:
    signed_in(teammate).post("/contexts/download/", {"format": "csv"})
    team.memberships.filter(user=teammate).delete()
    file = ContextFile.objects.get()
    assert file.job
    done(file.job, [])
    assert rows_of(signed_in(teammate).get(f"/contexts/lists/{file.id}/file/").content) == []
