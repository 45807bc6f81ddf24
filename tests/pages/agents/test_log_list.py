"""The daily logs of an agent: by month, searched, page by page; and the week of a day."""

import datetime
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents import log_search
from agents.models import Agent
from agents.services import daily_log_append
from teams.models import User
from tests.pages.conftest import SignedIn, text_of

LOGS = "/agents/luna/logs/"


def write(agent: Agent, owner: User, *days: str, text: str = "# Met Mara\n\n- at the stage") -> None:
    for day in days:
        date = datetime.date.fromisoformat(day)
        daily_log_append(agent=agent, date=date, text=text, principal=owner.principal)


def test_a_month_marks_the_days_that_have_a_log(signed_in: SignedIn, teammate: User, agent: Agent, owner: User) -> None:
    write(agent, owner, "2026-02-03", "2026-02-28", "2026-03-01")
    page = text_of(signed_in(teammate).get(f"{LOGS}?month=2026-02"))
    assert "February 2026" in page
    assert "2 days" in page
    assert page.count("has a log") == 2
    assert "/agents/luna/logs/2026-03-01/" not in page
    assert 'href="?month=2026-01"' in page
    assert 'href="?month=2026-03"' in page


@pytest.mark.parametrize("month", ["", "2026-13", "nonsense", "1899-01", "9999-12", "2026-02-01", "²026-01"])
def test_what_names_no_month_shows_this_one(month: str, signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    response = signed_in(teammate).get(LOGS, {"month": month})
    assert response.status_code == 200
    assert response.context["month"].first == agent.today(timezone.now()).replace(day=1)
    assert ", today: empty" in " ".join(text_of(response).split())


def test_the_newest_logs_come_first_with_their_first_lines(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User
) -> None:
    write(agent, owner, *(f"2026-01-{day:02}" for day in range(1, 31)))
    browser, address, dates = signed_in(teammate), LOGS, []
    while address:
        response = browser.get(address)
        dates += [log.date.day for log in response.context["logs"]]
        address = response.context["next"]
    assert dates == list(range(30, 0, -1))
    assert response.context["logs"][0].excerpt == "Met Mara\nat the stage"


def test_words_are_found_and_marked_and_nothing_else_is_html(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User
) -> None:
    write(agent, owner, "2026-01-01", text="A <script>alert(1)</script> & a ferry \ue000x left.")
    write(agent, owner, "2026-01-02", text="Nothing.")
    response = signed_in(teammate).get(f"{LOGS}?q=ferries")
    page = text_of(response)
    assert [log.date.day for log in response.context["logs"]] == [1]
    assert "<mark>ferry</mark>" in page
    assert "<script>alert" not in page
    assert "<mark>ferry</mark> x left" in page


@pytest.mark.parametrize("words", ["%00", "&|!():*", "'", "x" * 900, "-", "%F0%9F%A6%84", '"open'])
def test_strange_searches_do_no_harm(
    words: str, signed_in: SignedIn, teammate: User, agent: Agent, owner: User
) -> None:
    write(agent, owner, "2026-01-01", text="x " * 60_000)
    assert signed_in(teammate).get(f"{LOGS}?q={words}").status_code == 200


def test_a_log_of_many_words_can_be_searched(signed_in: SignedIn, teammate: User, agent: Agent, owner: User) -> None:
    write(agent, owner, "2026-01-01", text=" ".join(f"word{number}灯" for number in range(80_000)))
    assert "2026-01-01" in text_of(signed_in(teammate).get(f"{LOGS}?q=word77灯"))


def test_outsiders_find_nothing(signed_in: SignedIn, outsider: User, agent: Agent) -> None:
    for query in ("", "?q=x", "?date=2026-01-01", "?month=2026-01"):
        assert signed_in(outsider).get(LOGS + query).status_code == 404


def test_the_list_takes_as_many_queries_for_many_as_for_few(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User, django_assert_num_queries: Any
) -> None:
    browser = signed_in(teammate)
    browser.get(LOGS)
    for days in (("2026-01-01",), tuple(f"2026-01-{day:02}" for day in range(2, 20))):
        write(agent, owner, *days)
        # A search has two statements, each in a transaction of its own with limits that begin and end there.
        for query, queries in (("", 6), ("?q=Mara", 16)):
            with django_assert_num_queries(queries):
                browser.get(LOGS + query)


@pytest.mark.finding("5.5b")
def test_long_logs_are_found_by_the_index_and_shown_by_a_slice(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User
) -> None:
    far = "word " * 19_000
    write(agent, owner, "2026-01-01", "2026-01-02", text=f"{far}needle here")
    with CaptureQueriesContext(connection) as queries:
        page = text_of(signed_in(teammate).get(f"{LOGS}?q=needles"))
    assert page.count("<mark>needle</mark> here") == 2
    [headline] = [query["sql"] for query in queries if "ts_headline" in query["sql"]]
    assert "SUBSTR(searched, start, 4000)" in headline


@pytest.mark.finding("5.5b")
def test_a_search_does_not_take_other_logs_apart(agent: Agent, owner: User) -> None:
    write(agent, owner, "2026-01-01")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(log_search._LIMITS, ["0"])
        cursor.execute(f"EXPLAIN {log_search._FOUND}", {"words": "Mara stage", "agent": agent.id})
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Bitmap Index Scan on daily_log_words" in plan
    assert "Seq Scan on daily_logs" not in plan


@pytest.mark.finding("5.5b")
def test_a_search_that_takes_too_long_says_so(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(agent, owner, *[f"2026-01-{day:02}" for day in range(1, 6)], text="word " * 20_000)
    monkeypatch.setattr(log_search, "MAX_MILLISECONDS", 1)
    response = signed_in(teammate).get(f'{LOGS}?q="word word"')
    assert response.status_code == 200
    assert "This search would take too long. Search for rarer words, or open a month." in text_of(response)


@pytest.mark.finding("5.5b")
def test_a_search_shows_no_longer_pages_than_others(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User
) -> None:
    write(agent, owner, *[f"2026-01-{day:02}" for day in range(1, 20)])
    page = text_of(signed_in(teammate).get(f"{LOGS}?q=Mara&limit=200"))
    assert page.count("<mark>Mara</mark>") == 14


def test_words_of_a_phrase_follow_each_other(signed_in: SignedIn, teammate: User, agent: Agent, owner: User) -> None:
    write(agent, owner, "2026-01-01", text="red fox and blue bird")
    write(agent, owner, "2026-01-02", text="blue fox")
    page = text_of(signed_in(teammate).get(f'{LOGS}?q="blue fox"'))
    assert "2026-01-02" in page
    assert page.count("<mark>blue</mark>") == 1
    assert text_of(signed_in(teammate).get(f"{LOGS}?q=fox -red")).count("<mark>fox</mark>") == 1


def test_a_day_shows_its_week_and_the_days_beside_it(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User
) -> None:
    write(agent, owner, "2026-03-04", "2026-03-06")
    page = text_of(signed_in(teammate).get(f"{LOGS}2026-03-04/"))
    assert [day for day in range(28) if f"/logs/2026-03-{day:02}/" in page] == [2, 3, 4, 5, 6, 7, 8]
    assert page.count("has a log") == 2
    assert "← Tuesday, 3 March" in page
    assert "Thursday, 5 March →" in page


def test_there_is_no_day_after_today(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    assert "→" not in text_of(signed_in(teammate).get(f"{LOGS}{agent.today(timezone.now())}/"))


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "1899-12-31"])
def test_days_outside_the_years_that_dossier_knows_do_not_exist(
    day: str, signed_in: SignedIn, teammate: User, agent: Agent
) -> None:
    assert signed_in(teammate).get(f"{LOGS}{day}/").status_code == 404


@pytest.mark.finding("E28")
def test_excerpts_have_no_markdown(signed_in: SignedIn, teammate: User, agent: Agent, owner: User) -> None:
    text = "**Morning.** Met *Mara* at [the stage](https://example.org), wrote `notes.md`\n\n1. First\n> Said 2 * 3 * 4"
    write(agent, owner, "2026-02-03", text=text)
    response = signed_in(teammate).get(LOGS)
    excerpt = response.context["logs"][0].excerpt
    assert excerpt == "Morning. Met Mara at the stage, wrote notes.md\nFirst\nSaid 2 * 3 * 4"
    found = signed_in(teammate).get(LOGS, {"q": "stage"}).context["logs"][0].excerpt
    assert "<mark>stage</mark>" in found
    assert "**" not in found
