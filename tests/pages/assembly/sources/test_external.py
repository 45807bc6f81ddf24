"""The pages of external sources: admins register and try them, everybody reads names and labels."""

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from assembly.models import ExternalSource, StoredProfile
from assembly.profiles.parser import parse_described_profile
from assembly.sources.external.services import ExternalSourceConfig, external_source_create
from config.http.encryption import decrypt
from teams.models import User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.http_endpoints import GOOD, giving, serving
from tests.pages.conftest import SignedIn, text_of

SECRET = "quite-a-secret"
URL = "https://93.184.216.34/ask"
LIST, PAGE = "/external-sources/", "/external-sources/tickets/"
NEW, EDIT = f"{LIST}new/", f"{PAGE}edit/"
FORM = {"name": "tickets", "label": "Open tickets", "url": URL, "secret": SECRET, "limit": 20, "timeout_ms": 1000}
CHANGED = {"version": 1, "label": "All tickets", "url": URL, "secret": "", "limit": 5, "timeout_ms": 300}


@pytest.fixture
def source(db: None) -> ExternalSource:
    return external_source_create(
        name="tickets", facts=ExternalSourceConfig("Open tickets", URL), secret=SECRET, principal=SYSTEM
    )


@pytest.fixture
def others(owner: User, teammate: User, outsider: User) -> tuple[User, ...]:
    """An admin of a team, a viewer, and somebody of no team."""
    return owner, teammate, outsider


@pytest.fixture
def browser(signed_in: SignedIn, admin: User) -> Client:
    """Of an admin of the organisation."""
    return signed_in(admin)


# Address: what those who are no admins and the admin are answered.
PAGES = {
    LIST: (200, 200),
    NEW: (403, 200),
    PAGE: (200, 200),
    EDIT: (403, 200),
    f"{PAGE}query/": (405, 405),
    f"{PAGE}switch/": (405, 405),
    f"{PAGE}delete/": (403, 200),
    f"{LIST}nobody/": (404, 404),
    f"{LIST}nobody/edit/": (403, 404),
    f"{LIST}{'n' * 300}/": (404, 404),
}


@pytest.mark.parametrize("address", PAGES)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, browser: Client, others: tuple[User, ...], source: ExternalSource
) -> None:
    answers = {signed_in(person).get(address).status_code for person in others}
    assert (answers, browser.get(address).status_code) == ({PAGES[address][0]}, PAGES[address][1])


@pytest.mark.parametrize("address", PAGES)
def test_who_is_not_signed_in_is_sent_to_sign_in(address: str, client: Client, source: ExternalSource) -> None:
    response = client.get(address)
    assert (response.status_code, response["Location"][:16]) == (302, "/accounts/login/")


@pytest.mark.parametrize(
    ("address", "data"),
    [
        (NEW, {**FORM, "name": "more"}),
        (EDIT, CHANGED),
        (f"{PAGE}query/", {"query": "x"}),
        (f"{PAGE}switch/", {"version": 1}),
        (f"{PAGE}delete/", {}),
    ],
)
def test_who_is_no_admin_changes_and_asks_nothing(
    address: str, data: dict[str, Any], signed_in: SignedIn, others: tuple[User, ...], source: ExternalSource
) -> None:
    for person in others:
        assert signed_in(person).post(address, data).status_code == 403
    row = ExternalSource.objects.get()
    assert (row.version, row.enabled) == (1, True)


def test_readers_see_the_name_and_the_label_and_no_more(
    signed_in: SignedIn, outsider: User, source: ExternalSource
) -> None:
    for address in (LIST, PAGE):
        page = text_of(signed_in(outsider).get(address))
        assert "tickets" in page
        assert "Open tickets" in page
        assert not any(words in page for words in (URL, "93.184", "Register", "Test source", "Disable", "Delete"))


def test_an_empty_list_says_what_it_is_for(browser: Client, signed_in: SignedIn, outsider: User) -> None:
    assert "Add webhook" in text_of(browser.get(LIST))
    assert "Admins of the organisation can add them." in text_of(signed_in(outsider).get(LIST))


def test_one_is_registered_changed_switched_and_deleted(browser: Client) -> None:
    response = browser.post(NEW, FORM, follow=True)
    assert response.redirect_chain == [(PAGE, 302)]
    assert "External source created. Test it to see its results." in text_of(response)
    response = browser.post(EDIT, CHANGED, follow=True)
    assert response.redirect_chain == [(PAGE, 302)]
    row = ExternalSource.objects.get()
    assert (row.label, row.limit, row.timeout_ms, row.version) == ("All tickets", 5, 300, 2)
    assert (row.editor_name, decrypt(row.sealed_secret)) == ("Ada Admin", SECRET)
    assert "The source is disabled. Contexts are assembled without it." in text_of(
        browser.post(f"{PAGE}switch/", {"version": 2}, follow=True)
    )
    assert browser.post(f"{PAGE}switch/", {"version": 2, "on": "on"}).status_code == 412
    assert browser.post(f"{PAGE}switch/", {"version": "nonsense", "on": "on"}).status_code == 412
    assert "Webhook enabled." in text_of(browser.post(f"{PAGE}switch/", {"version": 3, "on": "on"}, follow=True))
    assert "deleted." in text_of(browser.post(f"{PAGE}delete/", follow=True))
    assert not ExternalSource.objects.exists()


def test_no_page_shows_the_secret(browser: Client, source: ExternalSource) -> None:
    pages = [browser.get(address) for address in (LIST, PAGE, EDIT)]
    pages.append(browser.post(NEW, {**FORM, "name": "Bad name"}))
    pages.append(browser.post(EDIT, {**CHANGED, "secret": "another-secret", "limit": 0}))
    for page in pages:
        assert not any(word in text_of(page) for word in (SECRET, "another-secret", source.sealed_secret))
    assert "set, never shown" in text_of(pages[1])
    for refused in pages[3:]:
        assert "Enter it again; it is not shown anywhere." in text_of(refused), "it must not be taken for kept"


def test_a_secret_is_replaced_or_removed(browser: Client, source: ExternalSource) -> None:
    browser.post(EDIT, {**CHANGED, "secret": "another-secret"})
    assert decrypt(ExternalSource.objects.get().sealed_secret) == "another-secret"
    browser.post(EDIT, {**CHANGED, "version": 2, "without_secret": "on"})
    assert ExternalSource.objects.get().sealed_secret == ""
    assert "Remove secret" not in text_of(browser.get(EDIT))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Open Tickets"}, "lower-case letters"),
        ({"name": "new"}, "Choose another name."),
        ({"label": " "}, "This field is required."),
        ({"url": "https://10.0.0.1/"}, "private or reserved network"),
        ({"url": "https://search.invalid/"}, "No address was found for its host."),
        ({"secret": "short"}, "Use 8 to 1,000"),
        ({"limit": 101}, "less than or equal to 100"),
        ({"timeout_ms": 49}, "greater than or equal to 50"),
    ],
)
def test_what_cannot_be_is_said_where_it_is_corrected(changes: dict[str, Any], words: str, browser: Client) -> None:
    response = browser.post(NEW, {**FORM, **changes})
    assert response.status_code == 422
    assert words in text_of(response)
    assert escape("Open tickets") in text_of(response) or "label" in changes
    assert not ExternalSource.objects.exists()


def test_a_name_is_there_once(browser: Client, source: ExternalSource) -> None:
    response = browser.post(NEW, FORM)
    assert (response.status_code, "“tickets” already" in text_of(response)) == (422, True)


def test_two_who_change_it_at_once_both_know(browser: Client, source: ExternalSource) -> None:
    browser.post(EDIT, {**CHANGED, "label": "Theirs"})
    response = browser.post(EDIT, {**CHANGED, "label": "Mine"})
    assert response.status_code == 422
    page = text_of(response)
    assert "Someone changed it meanwhile. Your values are below and not saved." in page
    assert 'value="Mine"' in page
    assert 'name="version" value="2"' in page
    browser.post(EDIT, {**CHANGED, "version": 2, "label": "Mine"})
    assert ExternalSource.objects.get().label == "Mine"


def test_asking_it_now_shows_what_came_back(browser: Client, source: ExternalSource, settings: Any) -> None:
    settings.EXTERNAL_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    results = [*GOOD["results"], {"id": "9", "text": "<script>alert(1)</script>"}, {"id": "broken"}]
    with serving(giving({"results": results})) as endpoint:
        browser.post(EDIT, {**CHANGED, "url": endpoint.url, "secret": SECRET, "timeout_ms": 10_000})
        page = text_of(browser.post(f"{PAGE}query/", {"query": "ferry"}))
    for words in (
        "3 results in",
        "The ferry is cancelled.",
        "score 0.90",
        "1 more result was ignored, because it is invalid or exceeds the limit.",
        'value="ferry"',
    ):
        assert words in page
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page


def test_asking_one_that_fails_says_why(browser: Client, source: ExternalSource, settings: Any) -> None:
    settings.EXTERNAL_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with serving(giving({}, 500)) as endpoint:
        browser.post(EDIT, {**CHANGED, "url": endpoint.url, "secret": SECRET})
        page = text_of(browser.post(f"{PAGE}query/", {"query": "ferry"}))
    assert "It answered with status 500 instead of 200." in page
    assert "127.0.0.1" not in page.partition('id="ask"')[2].partition("</section>")[0]
    assert browser.post(f"{PAGE}query/", {"query": ""}).status_code == 422


def test_a_profile_says_which_section_nobody_fills(browser: Client, source: ExternalSource) -> None:
    section = "  - {key: %s, heading: H, layer: L6, source: external, shape: blocks}\n"
    content = "sections:\n" + section % "tickets" + section % "weather"
    file_create(file=StoredProfile(name="town", content=content), author=SYSTEM.author)
    page = text_of(browser.get("/profiles/town/"))
    assert "There is no external source for this section: weather." in page
    ExternalSource.objects.create(name="weather", label="Weather", url=URL)
    assert "No external source" not in text_of(browser.get("/profiles/town/"))


@pytest.mark.parametrize("label", ["Open tickets", "Tickets: open", "“All” # of them", "- yes", "12"])
def test_the_section_on_the_page_can_be_taken_over(label: str, browser: Client, source: ExternalSource) -> None:
    browser.post(EDIT, {**CHANGED, "label": label})
    shown = text_of(browser.get(PAGE)).partition('Use in a profile">')[2].partition("</pre>")[0]
    content = "sections:\n" + unescape(shown)
    (section,) = parse_described_profile(content, name="town", version=1, sources=["external"]).profile.sections
    assert (section.key, section.label, section.source) == ("tickets", label, "external")
