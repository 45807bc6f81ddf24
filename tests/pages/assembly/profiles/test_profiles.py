"""The pages of profiles: everybody reads, admins edit."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from assembly.models import StoredProfile
from assembly.profiles.services import profile_create
from teams.models import User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.profiles.test_services import BRIEF, BRIEFER, GONE
from tests.pages.conftest import SignedIn, text_of

EDIT = "/profiles/brief/edit/"
HISTORY = "/profiles/brief/history/"


@pytest.fixture
def brief(admin: User) -> StoredProfile:
    return profile_create(name="brief", content=BRIEF, principal=admin.principal)


@pytest.fixture
def people(teammate: User, outsider: User, admin: User) -> tuple[User, ...]:
    """In the order of the table."""
    return (teammate, outsider, admin)


# Address: what a teammate (a viewer), the outsider and the admin are answered.
PAGES = {
    "/profiles/": (200, 200, 200),
    "/profiles/new/": (403, 403, 200),
    "/profiles/new/?from=brief": (403, 403, 200),
    "/profiles/new/?from=nobody": (403, 403, 404),
    "/profiles/check/": (405, 405, 405),
    "/profiles/brief/": (200, 200, 200),
    EDIT: (403, 403, 200),
    HISTORY: (200, 200, 200),
    f"{HISTORY}1/": (200, 200, 200),
    f"{HISTORY}2/": (404, 404, 404),
    f"{HISTORY}{'9' * 30}/": (404, 404, 404),
    f"{HISTORY}1/restore/": (405, 405, 405),
    "/profiles/brief/delete/": (403, 403, 200),
    "/profiles/conversation/": (200, 200, 200),
    "/profiles/conversation/edit/": (403, 403, 409),
    "/profiles/conversation/history/": (404, 404, 404),
    "/profiles/coding/": (200, 200, 200),
    "/profiles/coding/edit/": (403, 403, 200),
    "/profiles/nobody/": (404, 404, 404),
    "/profiles/nobody/edit/": (403, 403, 404),
}


def test_a_page_names_what_ranks_passages_and_whose_weights_count(
    signed_in: SignedIn, teammate: User, admin: User
) -> None:
    line = "{key: a, heading: A, layer: L6, source: semantic_content, shape: blocks, top_k: 3}"
    profile_create(name="plain", content=f"sections: [{line}]", principal=admin.principal)
    profile_create(name="domain", content=f"domain: documentation\nsections: [{line}]", principal=admin.principal)
    names = ("research", "plain", "domain")
    pages = {name: text_of(signed_in(teammate).get(f"/profiles/{name}/")) for name in names}
    assert [name for name in names if "The domain is documentation: weights that" in pages[name]] == ["domain"]
    assert "Passages of documents · ranker default" in pages["research"]
    assert "Passages of documents · best 3 · ranker seed" in pages["plain"]
    assert pages["research"].count(" · ranker") == 1
    assert "default, similarity, words or seed" in text_of(signed_in(admin).get("/profiles/new/"))


@pytest.mark.parametrize("address", PAGES)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, people: tuple[User, ...], brief: StoredProfile
) -> None:
    answers = tuple(signed_in(person).get(address).status_code for person in people)
    assert answers == PAGES[address]


@pytest.mark.parametrize("address", PAGES)
def test_who_is_not_signed_in_is_sent_to_sign_in(address: str, client: Any, brief: StoredProfile) -> None:
    response = client.get(address)
    assert (response.status_code, response["Location"][:16]) == (302, "/accounts/login/")


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("/profiles/new/", {"name": "own", "content": BRIEF}),
        (EDIT, {"version": 1, "content": BRIEFER}),
        (f"{HISTORY}1/restore/", {"version": 1}),
        ("/profiles/brief/delete/", {}),
    ],
)
def test_who_may_only_read_changes_nothing(
    address: str, data: dict[str, Any], signed_in: SignedIn, owner: User, brief: StoredProfile
) -> None:
    assert signed_in(owner).post(address, data).status_code == 403
    assert StoredProfile.objects.get().version == 1


def test_the_list_says_what_each_is_for_and_who_changed_it(
    signed_in: SignedIn, teammate: User, brief: StoredProfile
) -> None:
    page = text_of(signed_in(teammate).get("/profiles/"))
    assert page.index("conversation</a>") < page.index("brief</a>")
    assert "Who it is, and no more." in page
    assert "Version 1 by Ada Admin," in page
    assert "1 section<" in page
    assert "New profile" not in page


def test_the_list_takes_few_queries(
    signed_in: SignedIn, teammate: User, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(20):
        profile_create(name=f"brief-{number}", content=BRIEF, principal=SYSTEM)
    browser = signed_in(teammate)
    with django_assert_num_queries(3):  # session, person, profiles
        browser.get("/profiles/")


def test_a_profile_is_shown_as_a_table(signed_in: SignedIn, teammate: User) -> None:
    page = text_of(signed_in(teammate).get("/profiles/conversation/"))
    assert "16,000 tokens in total" in page
    assert '<tr class="l3">' in page
    assert "Memories of the team · best 5" in page
    assert "required" in page
    assert "no limit" in page
    assert "Read-only. Duplicate to edit." in page
    assert ">Edit<" not in page
    assert "Copy" not in page


def test_a_profile_says_what_becomes_of_what_has_no_room(signed_in: SignedIn, teammate: User) -> None:
    profile_create(name="strict", content=f"quality_min: 0.4\n{BRIEF}", principal=SYSTEM)
    browser = signed_in(teammate)
    plain, eager = text_of(browser.get("/profiles/strict/")), text_of(browser.get("/profiles/coding/"))
    assert "Texts that are still too long are truncated." in plain
    assert "Everything else is excluded." in plain
    assert "Items with the lowest scores are excluded first." not in plain
    assert "Minimum quality</dt><dd>0.4<" in plain
    assert "Minimum quality" not in eager
    lines = [
        "Items with the lowest scores are excluded first.",
        "Long memories are reduced to a relevant passage, and older turns are shortened.",
        "Long results, then items with the lowest scores, are summarised.",
        "Texts that are still too long are truncated at the end of a paragraph.",
        "Everything else is excluded, and included in a shorter form if a tenth of the budget is free.",
    ]
    places = [eager.find(line) for line in lines]
    assert -1 not in places
    assert places == sorted(places)


def test_a_profile_says_how_it_treats_scopes_levels_and_origins(signed_in: SignedIn, teammate: User) -> None:
    tools = "{key: tools, heading: T, layer: L6, source: tools, shape: blocks, least_origin: agent}"
    profile_create(name="careful", content=f"{BRIEF}  - {tools}\n", principal=SYSTEM)
    browser = signed_in(teammate)
    plain, memory = text_of(browser.get("/profiles/careful/")), text_of(browser.get("/profiles/memory/"))
    assert "only texts by people and agents" in plain
    assert "Sections begin with a heading." in plain
    assert "A line at the end names the sources that failed or were late." in plain
    assert "Memory scopes" not in plain
    assert "relevance 0.01 at least" in memory
    assert "Sections stand between tags." in memory
    assert "Blocks are included in their shortest form, the best ones first." in memory
    row = r"L1 · noosphere</th>\s*<td[^>]*>15</td>\s*<td[^>]*>\s*365 days\s*</td>\s*<td[^>]*>0.9</td>"
    assert re.search(row, memory)


@pytest.mark.parametrize(
    ("steps", "turns", "said"),
    [
        ("", False, "Everything else is excluded, and included after all if a tenth of the budget is free."),
        (
            "over_budget: [drop]\n",
            False,
            "Everything else is excluded, and included after all if a tenth of the budget is free.",
        ),
        (
            "over_budget: [compact]\n",
            False,
            "Everything else is excluded, and included after all if a tenth of the budget is free.",
        ),
        (
            "over_budget: [compact]\n",
            True,
            "Everything else is excluded, and included in a shorter form if a tenth of the budget is free.",
        ),
        (
            "over_budget: [summarise]\n",
            False,
            "Everything else is excluded, and included in a shorter form if a tenth of the budget is free.",
        ),
    ],
)
def test_another_chance_is_a_shorter_one_only_where_something_makes_it_shorter(
    steps: str, turns: bool, said: str, signed_in: SignedIn, teammate: User
) -> None:
    told = "  - {key: turns, heading: Turns, layer: L6, source: turns, shape: turns}\n" if turns else ""
    profile_create(name="filled", content=f"fill: true\n{steps}{BRIEF}{told}", principal=SYSTEM)
    assert said in text_of(signed_in(teammate).get("/profiles/filled/"))


@pytest.mark.parametrize(("share", "warned"), [(100, False), (60, True)])
def test_shares_of_more_than_the_whole_are_warned_of(
    share: int, warned: bool, signed_in: SignedIn, teammate: User
) -> None:
    shared = "".join(
        f"  - {{key: {key}, heading: H, layer: L2, source: team_files, shape: text, share: {share}}}\n"
        for key in (("goals", "context") if warned else ("goals",))
    )
    profile_create(name="wide", content=BRIEF + shared, principal=SYSTEM)
    page = text_of(signed_in(teammate).get("/profiles/wide/"))
    assert ("The shares add up to 120 %. If all sections" in page) is warned
    assert ("The shares add up to 100 %." in page) is not warned


def test_a_profile_that_cannot_be_read_says_why(signed_in: SignedIn, teammate: User, admin: User) -> None:
    file_create(file=StoredProfile(name="gone", content=GONE), author=SYSTEM.author)
    assert "invalid" in text_of(signed_in(teammate).get("/profiles/"))
    page = text_of(signed_in(teammate).get("/profiles/gone/"))
    assert "Line 5: “source” must be one of" in page
    assert "An admin of the organisation can correct it." in page
    assert signed_in(admin).get("/profiles/gone/edit/").status_code == 200
