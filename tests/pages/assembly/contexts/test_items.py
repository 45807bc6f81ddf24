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
    return [int(number) for number in re.findall(r'<li id="item-(\d+)"', page)]


def following(page: str) -> str:
    """The address of what comes next; empty at the end."""
    found = re.search(r'class="following"><a class="btn small" href="([^"]+)"', page)
    return html.unescape(found.group(1)) if found else ""


def all_from(browser: Any, address: str, **headers: str) -> list[int]:
    found = []
    while address:
        page = text_of(browser.get(address, headers=headers))
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


def test_what_the_page_shows_goes_on_where_it_ends(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    browser = signed_in(owner)
    page = text_of(browser.get(f"/contexts/{many.id}/"))
    left_out = page.split('id="left-out"')[1].split("</section>")[0]
    shown = positions_on(left_out)
    rest = all_from(browser, following(left_out), **{"HX-Request": "true"})
    assert shown + rest == [place for place, one in enumerate(load_record(many).decisions) if not one.included]


def test_with_htmx_only_the_next_items_come_and_the_first_takes_the_focus(
    signed_in: SignedIn, owner: User, many: Assembly
) -> None:
    headers = {"HX-Request": "true"}
    part = text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?which=out&begin=8", headers=headers))
    assert "<html" not in part
    assert (
        part.startswith('<div id="following-out-8" data-announce="Items 9 to 58 of ') or 'id="following-out-8"' in part
    )
    assert part.count("data-focus") == 1


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
    assert "Show all" in page
    assert 'value="MEMORY 117:"' in page


@pytest.mark.parametrize(
    "query", ["section=nonsense", "code=nope", "which=maybe", "q=%00", "q=zeppelin", "q=" + "x" * 201]
)
def test_what_matches_nothing_says_so_and_keeps_the_words(
    query: str, signed_in: SignedIn, owner: User, many: Assembly
) -> None:
    response = signed_in(owner).get(f"/contexts/{many.id}/items/?{query}")
    assert response.status_code == 200
    assert "Nothing was found" in text_of(response)


@pytest.mark.parametrize("query", ["begin=x", "begin=-1", "begin=%00", "at=%D9%A1", "begin=99999999999", "at="])
def test_a_place_that_is_no_number_is_refused(query: str, signed_in: SignedIn, owner: User, many: Assembly) -> None:
    response = signed_in(owner).get(f"/contexts/{many.id}/items/?{query}")
    assert response.status_code == 422
    assert "whole number" in text_of(response)


def test_beyond_the_end_there_is_nothing(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    assert "Nothing was found" in text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?begin=999"))


def test_an_item_is_on_the_page_that_is_asked_for_it(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?at=170"))
    assert 170 in positions_on(page)
    assert "Show those before" in page


def test_what_nearly_got_in_says_what_it_needed(signed_in: SignedIn, owner: User, many: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{many.id}/items/?which=out&section=events"))
    assert re.search(r"It would have fitted with [\d,]+ more tokens|others would have had them first", page)


def test_two_thousand_candidates_make_no_heavier_page(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, django_assert_num_queries: Any
) -> None:
    assembly = context_of_many(agent, team, owner.principal, candidates=2_000)
    browser = signed_in(owner)
    with django_assert_num_queries(9):
        page = browser.get(f"/contexts/{assembly.id}/", headers={"Accept-Encoding": "gzip"})
    assert len(page.content) < 60_000
    with django_assert_num_queries(6):
        items = browser.get(f"/contexts/{assembly.id}/items/", headers={"Accept-Encoding": "gzip"})
    assert len(items.content) < 40_000
