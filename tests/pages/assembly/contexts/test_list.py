"""The list of contexts: what its address asks for, in words; and the way on."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from agents.models import Agent
from agents.services import agent_create, daily_log_append
from assembly.contexts.search import search
from assembly.contexts.search.db import SearchTooBroad
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Entity
from memories.services import MemoryFacts, memories_create, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.contexts.context_rows import NOON, context, piece
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def listed(agent: Agent, team: Team) -> list[Assembly]:
    file = agent.files.get(file_key="KNOWLEDGE")
    told = piece(f"agent_file:{file.id}@1", "Tides and ferries.")
    return [
        context(agent, team, topic="about ferries", told=[told], left_out=1_204, assembly_ms=1_350),
        context(agent, age=1, topic="about kites", profile_name="research", warnings=["SOURCE_TIMEOUT"]),
        context(agent, team, age=2, topic="about tides", omitted=[told], truncated=True, codes=["duplicate"]),
    ]


def shown(signed_in: SignedIn, who: User, query: str) -> tuple[set[str], str]:
    """The topics on the page, and its heading."""
    page = text_of(signed_in(who).get(f"/contexts/?{query}"))
    return set(re.findall(r"about (\w+)", page)), re.sub(r"\s+", " ", re.findall(r"<h2[^>]*>(.*?)</h2>", page)[0])


def test_a_row_says_what_became_of_a_context(signed_in: SignedIn, teammate: User, listed: list[Assembly]) -> None:
    page = text_of(signed_in(teammate).get("/contexts/"))
    for said in ("Luna · Demo", "about ferries", "900 of 16,000", "1,204", "1,350 ms", "source timed out", "research"):
        assert said in page
    assert "All contexts, newest first" in page


@pytest.mark.parametrize(
    ("query", "topics", "sentence"),
    [
        ("agent=luna", {"ferries", "kites", "tides"}, "Agent: Luna"),
        ("agent=luna&team=demo&outcome=excluded", {"ferries"}, "Agent: Luna, team: Demo, with excluded items"),
        ("outcome=truncated", {"kites", "tides"}, "Truncated or with a warning"),
        ("profile=research", {"kites"}, "Profile: research"),
        ("warning=SOURCE_TIMEOUT", {"kites"}, "Warning: “source timed out”"),
        ("reason=duplicate", {"tides"}, "Decision: Excluded: duplicate"),
        ("included_ref=/agents/luna/files/KNOWLEDGE/", {"ferries"}, "Contains: Knowledge of Luna"),
        ("excluded_ref=/agents/luna/files/KNOWLEDGE/history/1/", {"tides"}, "Excludes: Knowledge of Luna, version 1"),
        ("q=ferry", {"ferries"}, "Words: “ferry”"),
        ("since=2026-11-20&until=2026-11-20", {"ferries", "kites", "tides"}, "From 2026-11-20 to 2026-11-20"),
        ("until=2026-11-19&when=week", set(), "No contexts match"),
        ("requested_by=me", set(), "No contexts match"),
        ("requested_by=system", {"ferries", "kites", "tides"}, "Requested by: system"),
    ],
)
@pytest.mark.usefixtures("listed")
def test_the_filters_of_the_address_read_as_a_sentence(
    query: str, topics: set[str], sentence: str, signed_in: SignedIn, teammate: User
) -> None:
    assert shown(signed_in, teammate, query) == (topics, sentence)


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("agent=nobody", "no agent with this slug"),
        ("since=yesterday", "Use a date like"),
        ("included_ref=what:", "Select a match below, or paste the URL of its page."),
        (f"included_ref=memory:{'1' * 200}", "Paste the URL of the page of a file, memory or other item, or its ref."),
        ("included_ref=/agents/nobody/files/KNOWLEDGE/", "that you may read"),
        ("reason=because", "Use one of"),
        ("q=%00", "Null characters"),
        ("when=tomorrow", "not one of the available choices"),
    ],
)
def test_a_filter_that_means_nothing_says_so_beside_it(
    query: str, fault: str, signed_in: SignedIn, teammate: User, listed: list[Assembly]
) -> None:
    page = text_of(signed_in(teammate).get(f"/contexts/?{query}"))
    assert fault in page
    is_answered = "what:" in query
    assert ("Invalid filter" in page) is not is_answered
    assert fault in page.partition('id="found"')[2] or is_answered, "htmx shows no more than that part"


def offered(signed_in: SignedIn, who: User, query: str) -> dict[str, str]:
    """What there is to choose, each with its address."""
    page = text_of(signed_in(who).get(f"/contexts/?{query}"))
    found = re.findall(r'<li><a href="([^"]*)">([^<]*)</a><span class="note">([^<]*)</span>', page)
    return {f"{title} · {owner}": address.replace("&amp;", "&") for address, title, owner in found}


@pytest.fixture
def things(agent: Agent, team: Team) -> None:
    daily_log_append(agent=agent, date=NOON.date(), text="Met the harbour master.", principal=SYSTEM)
    memory_create(owner=team, facts=MemoryFacts(kind="fact", text="Ferries leave at noon"), principal=SYSTEM)
    Entity.objects.create(agent=agent, type="place", name="Ferry quay")


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("knowl", {"Knowledge · Luna"}),
        ("goals demo", {"Goals · Demo"}),
        ("luna identity", {"Identity · Luna"}),
        ("2026-11-20", {"20 November 2026 · Luna"}),
        ("luna 11-20", {"20 November 2026 · Luna"}),
        ("ferry", {"Ferries leave at noon · Demo", "Ferry quay · Luna"}),
        ("nobody", set()),
    ],
)
@pytest.mark.usefixtures("things")
def test_a_name_offers_what_it_may_mean(words: str, titles: set[str], signed_in: SignedIn, teammate: User) -> None:
    for name in ("included_ref", "excluded_ref"):
        assert set(offered(signed_in, teammate, urlencode({name: words}))) == titles


def test_a_choice_leads_back_with_its_filter_set(signed_in: SignedIn, teammate: User, listed: list[Assembly]) -> None:
    (address,) = offered(signed_in, teammate, "included_ref=knowledge&agent=luna").values()
    assert "agent=luna" in address
    assert shown(signed_in, teammate, address.partition("?")[2]) == (
        {"ferries"},
        "Agent: Luna, contains: Knowledge of Luna",
    )


@pytest.mark.usefixtures("things")
def test_the_other_filters_say_whose_things_are_offered(
    signed_in: SignedIn, admin: User, listed: list[Assembly]
) -> None:
    agent_create(slug="kit", name="Kit")
    assert len(offered(signed_in, admin, "included_ref=knowledge")) == 2
    assert set(offered(signed_in, admin, "included_ref=knowledge&agent=kit")) == {"Knowledge · Kit"}


@pytest.mark.usefixtures("things")
def test_what_others_keep_is_not_offered(signed_in: SignedIn, outsider: User) -> None:
    for words in ("luna", "demo", "ferry", "2026", "knowledge"):
        assert offered(signed_in, outsider, f"included_ref={words}") == {}


def test_of_each_kind_some_are_offered(signed_in: SignedIn, teammate: User, agent: Agent, team: Team) -> None:
    for number in range(5):
        Entity.objects.create(agent=agent, type="place", name=f"Luna quay {number}")
    memories_create(
        owner=team, facts=[MemoryFacts(kind="fact", text=f"Luna {number}") for number in range(5)], principal=SYSTEM
    )
    for day in range(5):
        daily_log_append(agent=agent, date=NOON.date() - timedelta(days=day), text="x", principal=SYSTEM)
    assert len(offered(signed_in, teammate, "included_ref=luna")) == 12
    assert "There are more" in text_of(signed_in(teammate).get("/contexts/?included_ref=luna"))


def test_while_somebody_types_neither_focus_nor_address_move(
    signed_in: SignedIn, teammate: User, listed: list[Assembly]
) -> None:
    typing = {"HX-Request": "true", "HX-Trigger-Name": "included_ref"}
    for words in ("know", "", "kelp"):
        response = signed_in(teammate).get("/contexts/", {"included_ref": words}, headers=typing)
        assert "HX-Push-Url" not in response
        assert "data-focus" not in text_of(response)
        assert "data-announce" in text_of(response)


def test_names_that_no_search_takes_are_no_error(signed_in: SignedIn, teammate: User) -> None:
    for words in ("%", "_", "'", '"', "\\", "a" * 9_000, "a b " * 400, "-", "or", "é̀"):
        assert signed_in(teammate).get("/contexts/", {"included_ref": words, "excluded_ref": words}).status_code == 200


def test_who_may_see_nothing_finds_nothing(signed_in: SignedIn, outsider: User, listed: list[Assembly]) -> None:
    assert shown(signed_in, outsider, "q=ferry") == (set(), "No contexts match")
    assert shown(signed_in, outsider, "") == (set(), "No contexts yet")


def test_the_choices_are_what_the_person_may_see(
    signed_in: SignedIn, teammate: User, outsider: User, owner: User, listed: list[Assembly]
) -> None:
    page = text_of(signed_in(teammate).get("/contexts/"))
    assert '<option value="luna">Luna</option>' in page
    assert f'<option value="person:{owner.id}">Olga Owner</option>' in page
    assert "Otto Outsider" not in page
    other = text_of(signed_in(outsider).get("/contexts/"))
    assert "luna" not in other
    assert "Olga Owner" not in other


def test_with_htmx_the_address_is_kept_and_the_next_page_follows(
    signed_in: SignedIn, teammate: User, listed: list[Assembly]
) -> None:
    browser = signed_in(teammate)
    response = browser.get("/contexts/?limit=2&agent=luna&q=&team=", headers={"HX-Request": "true"})
    assert response["HX-Push-Url"] == "/contexts/?limit=2&agent=luna"
    following = re.findall(r'href="(/contexts/\?[^"]*cursor[^"]*)"', text_of(response))[0].replace("&amp;", "&")
    assert "q=" not in following
    assert set(re.findall(r"about (\w+)", text_of(browser.get(following)))) == {"tides"}
    assert browser.get("/contexts/?cursor=nonsense").status_code == 422


def test_a_search_that_came_only_so_far_offers_to_go_on(
    signed_in: SignedIn, teammate: User, agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, few in (("MAX_WALKED_ROWS", 2), ("SECOND_WALK_FACTOR", 1)):
        monkeypatch.setattr(search, name, few)  # so that a page looks at four rows
    for age in range(9):
        context(agent, team, age=age, left_out=int(age == 8), topic="about kelp")
    page = text_of(signed_in(teammate).get("/contexts/?outcome=excluded"))
    assert "No contexts yet" in page
    address = re.findall(r'href="([^"]*)">Search older contexts', page)[0].replace("&amp;", "&")
    page = text_of(signed_in(teammate).get(address))
    assert "No contexts yet" in page
    address = re.findall(r'href="([^"]*)">Search older contexts', page)[0].replace("&amp;", "&")
    assert "about kelp" in text_of(signed_in(teammate).get(address))


def test_a_search_that_takes_too_long_says_what_to_do(
    signed_in: SignedIn, teammate: User, listed: list[Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(**_: Any) -> None:
        raise SearchTooBroad("Narrow the time.")

    monkeypatch.setattr("assembly.contexts.list_views.search_contexts", slow)
    page = text_of(signed_in(teammate).get("/contexts/?q=ferry"))
    assert "Search timed out" in page
    assert "Narrow the time" in page


def test_the_list_takes_few_queries(
    signed_in: SignedIn, teammate: User, admin: User, listed: list[Assembly], django_assert_num_queries: Any
) -> None:
    viewer, boss = signed_in(teammate), signed_in(admin)
    # Session, person, agents, teams, people, profiles; the search's limits and plan, the walk, its end, the rows; twice
    # the transaction around these; the bodies of those in which a section is full, or of which a source failed; flags.
    with django_assert_num_queries(15):
        viewer.get("/contexts/")
    # Besides, agents and teams of which there are contexts only.
    with django_assert_num_queries(17):
        boss.get("/contexts/")
    # Besides, the pieces with the words; the one that is found has no body to read.
    with django_assert_num_queries(15):
        viewer.get("/contexts/?q=ferry")


def test_two_selected_contexts_are_compared_the_older_one_first(
    signed_in: SignedIn, owner: User, outsider: User, agent: Agent, team: Team
) -> None:
    first, second = (
        assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic=topic)).assembly
        for topic in ("one", "two")
    )
    browser = signed_in(owner)
    assert f'name="pick" value="{first.id}"' in text_of(browser.get("/contexts/"))
    answer = browser.get(f"/contexts/compare/?pick={second.id}&pick={first.id}")
    assert answer["Location"] == f"/contexts/compare/?before={first.id}&after={second.id}"
    for wrong in (f"pick={first.id}", f"pick={first.id}&pick=x", f"pick={first.id}&pick={second.id}&pick={first.id}"):
        assert "Select two contexts to compare them." in text_of(
            browser.get(f"/contexts/compare/?{wrong}", follow=True)
        )
    refused = signed_in(outsider).get(f"/contexts/compare/?pick={first.id}&pick={second.id}")
    assert refused["Location"] == "/contexts/"
