"""The exact text, stretch by stretch, and how it and the lists of items lead to each other."""

import html
import re

import pytest

from agents.models import Agent
from assembly.contexts.exact_text import MAX_EXCERPT_CHARACTERS, TextExcerpt, text_excerpt
from assembly.models import Assembly
from assembly.records.reader import content_of, load_record
from teams.models import Team, User
from tests.assembly.large_record import context_of_many, context_of_text
from tests.pages.conftest import SignedIn, text_of

TAGS = re.compile(r"</?(span|mark|a)\b[^>]*>")


def stretches(assembly: Assembly) -> list[TextExcerpt]:
    """All of the text, one after the other."""
    told = load_record(assembly)
    content, begin, found = content_of(told), 0, []
    while True:
        found.append(text_excerpt(assembly.sections, told.decisions, content, begin))
        if (following := found[-1].following) is None:
            return found
        begin = following


def text_in(shown: TextExcerpt) -> str:
    return "".join(text for piece in shown.pieces for part in piece.parts for text, _ in part.runs)


@pytest.mark.parametrize("text", ["harbour walk opens\n" * 10_526, "x" * 200_000, "a\n" + "灯台 " * 50_000])
def test_a_long_text_is_whole_in_its_stretches(text: str, team: Team, agent: Agent, owner: User) -> None:
    assembly = context_of_text(agent, team, owner.principal, text)
    found = stretches(assembly)
    assert "".join(map(text_in, found)) == content_of(load_record(assembly))
    assert len(found) >= 3
    assert all(len(text_in(one)) <= MAX_EXCERPT_CHARACTERS for one in found)
    parts = [part for one in found for piece in one.pieces for part in piece.parts if part.position is not None]
    assert [part.begins for part in parts] == [True] + [False] * (len(parts) - 1)
    assert [part.ends for part in parts] == [False] * (len(parts) - 1) + [True]


def test_a_stretch_ends_with_a_line_where_there_are_lines(team: Team, agent: Agent, owner: User) -> None:
    found = stretches(context_of_text(agent, team, owner.principal, "harbour walk opens\n" * 10_526))
    assert all(text_in(one).endswith("\n") for one in found[:-1])


def test_every_included_item_is_one_part(team: Team, agent: Agent, owner: User) -> None:
    assembly = context_of_many(agent, team, owner.principal, candidates=400)
    told, positions = load_record(assembly), []
    content = content_of(told)
    for shown in stretches(assembly):
        for piece in shown.pieces:
            for part in piece.parts:
                if part.position is not None and part.begins and part.ends:
                    positions.append(part.position)
                    decision = told.decisions[part.position]
                    said = "".join(text for text, _ in part.runs)
                    assert said == content[decision.start : decision.end]
    included = {position for position, decision in enumerate(told.decisions) if decision.included}
    assert set(positions) <= included
    assert len(positions) >= len(included) - len(stretches(assembly)) + 1


def test_items_and_text_lead_to_each_other(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    assembly = context_of_many(agent, team, owner.principal, candidates=60)
    browser = signed_in(owner)
    text = text_of(browser.get(f"/contexts/{assembly.id}/exact/"))
    items = re.findall(rf'href="(/contexts/{assembly.id}/items/\?item=(\d+)#item-\2)"', text)
    assert items
    for address, position in (items[0], items[-1]):
        listed = text_of(browser.get(html.unescape(address)))
        assert f'id="item-{position}"' in listed
        assert f'href="/contexts/{assembly.id}/exact/#text-{position}"' in listed
        assert f'id="text-{position}"' in text


def test_each_piece_leads_to_the_version_that_it_came_from(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent
) -> None:
    assembly = context_of_text(agent, team, owner.principal, "Be kind.")
    page = text_of(signed_in(owner).get(f"/contexts/{assembly.id}/exact/"))
    assert 'class="sign source" href="/agents/luna/files/IDENTITY/history/1/"' in page


def test_a_long_text_goes_on_when_it_is_asked_for(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    assembly = context_of_text(agent, team, owner.principal, "harbour <walk> opens\n" * 9_524)
    browser, told = signed_in(owner), load_record(assembly)
    page = text_of(browser.get(f"/contexts/{assembly.id}/exact/"))
    assert f'data-copy-from="/contexts/{assembly.id}/text/"' in page
    assert len(page) < 150_000
    shown, address = "", f"/contexts/{assembly.id}/exact/"
    while address:
        part = text_of(browser.get(address))
        shown += html.unescape(
            TAGS.sub("", part.split('<code class="text exact"')[1].split(">", 1)[1].split("</code>")[0])
        )
        following = re.search(r'href="(/contexts/[^"]*\?begin=\d+)"', part)
        address = following.group(1) if following else ""
        partial = text_of(browser.get(address, headers={"HX-Request": "true"})) if address else ""
        assert "<html" not in partial
    assert shown == content_of(told)


def test_a_place_that_is_not_in_the_text_is_not_found(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent
) -> None:
    browser, assembly = signed_in(owner), context_of_text(agent, team, owner.principal, "Be kind.")
    asked = ("", "?begin=0", "?begin=1", "?begin=99999999999", "?begin=-1", "?begin=x", "?begin=%00", "?begin=9999")
    answers = [browser.get(f"/contexts/{assembly.id}/exact/{query}").status_code for query in asked]
    assert answers == [200, 200, 200, 404, 404, 404, 404, 404]


def test_an_empty_text_has_a_page(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    assembly = context_of_text(agent, team, owner.principal, "")
    assert "The text is empty." in text_of(signed_in(owner).get(f"/contexts/{assembly.id}/exact/"))
