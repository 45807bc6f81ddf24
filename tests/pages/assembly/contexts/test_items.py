"""All that a context considered: filtered, page by page, quick with very many."""

import html
import re
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Assembly
from assembly.records.reader import load_record
from teams.models import Team, User
from tests.assembly.large_record import context_of_many
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def many(agent: Agent, team: Team, owner: User) -> Assembly:
    return context_of_many(agent, team, owner.principal, candidates=240)


def positions_on(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="item-(\d+)"', page)]


def following(page: str) -> str:
    """The address of what comes next; empty at the end."""
    found = re.search(r'<a class="btn small" href="([^"]+)">Next</a>', page)
    return html.unescape(found.group(1)) if found else ""


def all_from(browser: Any, address: str) -> list[int]:
    found = []
    while address:
        page = text_of(browser.get(address))
        found += positions_on(page)
        address = following(page)
    return found


def test_page_by_page_everything_comes_once(signed_in: SignedIn, teammate: User, many: Assembly) -> None:
    browser = signed_in(teammate)
    assert all_from(browser, f"/contexts/{many.id}/items/") == [*range(240)]
    decisions = load_record(many).decisions
    out = [position for position, decision in enumerate(decisions) if not decision.included]
    assert all_from(browser, f"/contexts/{many.id}/items/?which=out") == out
    told = all_from(browser, f"/contexts/{many.id}/items/?which=in")
    assert told == sorted(set(range(240)) - set(out), key=lambda position: decisions[position].start or 0)


def test_the_summary_shows_the_first_excluded_items_and_leads_to_all(
    signed_in: SignedIn, owner: User, many: Assembly
) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{many.id}/"))
    left_out = page.split('id="left-out"')[1].split("</section>")[0]
    shown = [int(number) for number in re.findall(r'<li id="item-(\d+)"', left_out)]
    out = [place for place, one in enumerate(load_record(many).decisions) if not one.included]
    assert shown == out[:8]
    assert f'href="/contexts/{many.id}/items/?which=out"' in left_out


@pytest.mark.parametrize(("column", "of"), [("tokens", "tokens_full"), ("score", "score"), ("rank", "rank")])
def test_columns_sort_all_items(column: str, of: str, signed_in: SignedIn, owner: User, many: Assembly) -> None:
    browser, decisions = signed_in(owner), load_record(many).decisions
    address = f"/contexts/{many.id}/items/?which=out&section=events&sort="
    for sign in ("", "-"):
        values = [getattr(decisions[position], of) or 0 for position in all_from(browser, address + sign + column)]
        assert values == sorted(values, reverse=bool(sign))
    assert 'aria-sort="descending"' in text_of(browser.get(f"{address}-{column}"))


def test_the_selected_item_is_told_beside_the_list(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?which=out&item=170"))
    details = page.split('id="item-details"')[1].split("</aside>")[0]
    title = re.search(r'<tr id="item-170" aria-current="true">.*?<a[^>]*>([^<]+)</a>', page, re.DOTALL)
    if title:
        assert title[1].strip() in details
    assert "Explain" in details


def test_filters_narrow_and_say_so(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    browser, told = signed_in(owner), load_record(many)
    of_events = all_from(browser, f"/contexts/{many.id}/items/?section=events")
    assert {told.decisions[position].section for position in of_events} == {"events"}
    codes = {one.code for one in told.decisions if not one.included}
    for code in codes:
        found = all_from(browser, f"/contexts/{many.id}/items/?code={code}&section=&q=")
        assert {told.decisions[position].code for position in found} == {code}
    page = text_of(browser.get(f"/contexts/{many.id}/items/?q=MEMORY%20117:&which="))
    assert positions_on(page) == [
        place for place, one in enumerate(told.inputs.candidates) if one.text.startswith("Memory 117:")
    ]
    assert "Clear filters" in page
    assert 'value="MEMORY 117:"' in page


@pytest.mark.parametrize(
    "query",
    [
        "section=nonsense",
        "sort=nonsense",
        "sort=--rank",
        "code=nope",
        "which=maybe",
        "q=%00",
        "q=zeppelin",
        "q=" + "x" * 201,
    ],
)
def test_what_matches_nothing_says_so_and_keeps_the_words(
    query: str, signed_in: SignedIn, owner: User, many: Assembly
) -> None:
    response = signed_in(owner).get(f"/contexts/{many.id}/items/?{query}")
    assert response.status_code == 200
    assert "No matches" in text_of(response)


@pytest.mark.parametrize("query", ["begin=x", "begin=-1", "begin=%00", "item=%D9%A1", "begin=99999999999", "item="])
def test_a_place_that_is_no_number_is_refused(query: str, signed_in: SignedIn, owner: User, many: Assembly) -> None:
    response = signed_in(owner).get(f"/contexts/{many.id}/items/?{query}")
    assert response.status_code == 422
    assert "whole number" in text_of(response)


def test_beyond_the_end_there_is_nothing(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    assert "No matches" in text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?begin=999"))


def test_an_item_is_on_the_page_that_is_asked_for_it(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?item=170"))
    assert 170 in positions_on(page)
    assert ">Previous</a>" in page


def test_what_nearly_got_in_says_what_it_needed(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    out = all_from(browser := signed_in(owner), f"/contexts/{many.id}/items/?which=out&section=events")
    page = text_of(browser.get(f"/contexts/{many.id}/items/?item={out[0]}"))
    assert re.search(r"It would fit with [\d,]+ more tokens|items with a higher score come first", page)


def test_two_thousand_candidates_make_no_heavier_page(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, django_assert_num_queries: Any
) -> None:
    assembly = context_of_many(agent, team, owner.principal, candidates=2_000)
    browser = signed_in(owner)
    with django_assert_num_queries(12):
        page = browser.get(f"/contexts/{assembly.id}/", headers={"Accept-Encoding": "gzip"})
    assert len(page.content) < 60_000
    with django_assert_num_queries(8):
        items = browser.get(f"/contexts/{assembly.id}/items/", headers={"Accept-Encoding": "gzip"})
    assert len(items.content) < 40_000
