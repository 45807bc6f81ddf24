"""The pages of the organisation's files: admins write, everybody reads; drafts and changes are listed elsewhere."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import agent_create
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import OrganisationFile, Team, User
from teams.organisation.services import organisation_file_create, organisation_file_delete
from teams.principal import SYSTEM
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_save
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import publish

VOICE = "/organisation/files/brand-voice/"


@pytest.fixture
def voice(db: None) -> OrganisationFile:
    return organisation_file_create(
        key="brand-voice", title="Brand voice", content="# How we sound\n\nPlain words.", principal=SYSTEM
    )


def write(file: OrganisationFile, content: str, by: User) -> OrganisationFile:
    current = OrganisationFile.objects.get(id=file.id)
    return file_save(file=current, content=content, expected_version=current.version, author=by.principal.author)


def test_an_admin_creates_edits_and_publishes(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    assert "No organisation knowledge yet" in text_of(browser.get("/organisation/"))
    made = browser.post("/organisation/new/", {"title": "Brand voice"}, follow=True)
    assert made.redirect_chain == [(VOICE, 302)]
    page = text_of(made)
    assert "<h1>Brand voice</h1>" in page
    assert "Used by: all agents" in page
    assert "Empty: nothing is included in contexts." in page
    published = publish(browser, "Plain words.", note="First", address=VOICE)
    assert "Published version 2." in text_of(published)
    listed = text_of(browser.get("/organisation/"))
    assert "Plain words." in listed
    assert "Version 2" in listed


def test_the_size_says_that_passages_are_included(signed_in: SignedIn, admin: User, voice: OrganisationFile) -> None:
    browser = signed_in(admin)
    assert "Contexts include the passages that fit their topic" in text_of(browser.get(VOICE))
    long = browser.post("/size/ORGANISATION/", {"content": "word " * 30_000})
    assert "30,000 words" in text_of(long)
    assert "truncated" not in text_of(long)
    preview = browser.post(VOICE, {"deed": "preview", "content": "word " * 30_000, "version": 1})
    assert "cut-line" not in text_of(preview)


def test_a_key_is_refused_where_it_cannot_be_used(signed_in: SignedIn, admin: User, voice: OrganisationFile) -> None:
    browser = signed_in(admin)
    for form, said in (
        ({"title": "Brand voice"}, "A file with this key exists"),
        ({"title": "Voice", "key": "Not a slug"}, "lower-case letters"),
        ({"title": "!!!"}, "No key can be derived"),
        ({"title": ""}, "required"),
        ({"title": "\u200b", "key": "voice"}, "visible characters"),
        ({"title": "Voice\n## Rules", "key": "voice"}, "Use one line"),
    ):
        answer = browser.post("/organisation/new/", form)
        assert answer.status_code == 422
        assert said in text_of(answer)


def test_people_who_may_only_read_see_the_text(signed_in: SignedIn, teammate: User, voice: OrganisationFile) -> None:
    browser = signed_in(teammate)
    listed = text_of(browser.get("/organisation/"))
    assert "Brand voice" in listed
    assert "New file" not in listed
    read = browser.get(VOICE, follow=True)
    assert read.redirect_chain == [(f"{VOICE}history/1/", 302)]
    page = text_of(read)
    assert "Plain words." in page
    assert f'href="{VOICE}"' not in page
    assert browser.post(VOICE, {"deed": "keep", "content": "x", "version": 1}).status_code == 403
    assert browser.get(f"{VOICE}history/").status_code == 200
    assert browser.get(f"{VOICE}preview/").status_code == 403
    assert browser.get("/organisation/files/nothing/").status_code == 404


def test_versions_are_compared_and_restored(signed_in: SignedIn, admin: User, voice: OrganisationFile) -> None:
    write(voice, "Plain words, and few.", admin)
    browser = signed_in(admin)
    assert "and few" in text_of(browser.get(f"{VOICE}history/compare/"))
    done = browser.post(f"{VOICE}history/1/restore/", {"version": 2, "note": ""}, follow=True)
    assert "Restored version 1 as version 3." in text_of(done)
    assert OrganisationFile.objects.get().content == voice.content


def test_a_draft_meets_a_newer_version(signed_in: SignedIn, admin: User, owner: User, voice: OrganisationFile) -> None:
    draft_save(person_id=admin.id, about=voice.about, content="My words.", based_on=1, expected_revision=0)
    write(voice, "Their words.", owner)
    page = text_of(signed_in(admin).get(f"{VOICE}?step=merge"))
    assert "My words." in page
    assert "Their words." in page


def test_renaming_creates_a_version(signed_in: SignedIn, admin: User, voice: OrganisationFile) -> None:
    browser = signed_in(admin)
    assert f'href="{VOICE}settings/"' in text_of(browser.get(VOICE))
    stale = browser.post(f"{VOICE}settings/", {"title": "Voice", "version": 7})
    assert stale.status_code == 422
    assert "Save again to use your title" in text_of(stale)
    browser.post(f"{VOICE}settings/", {"title": "Voice", "version": 1})
    assert (OrganisationFile.objects.get().title, OrganisationFile.objects.get().version) == ("Voice", 2)
    assert "Renamed to “Voice”" in text_of(browser.get(f"{VOICE}history/"))


def test_deleting_asks_for_the_key(signed_in: SignedIn, admin: User, voice: OrganisationFile) -> None:
    browser = signed_in(admin)
    assert browser.post(f"{VOICE}delete/", {"typed": "voice"}).status_code == 422
    done = browser.post(f"{VOICE}delete/", {"typed": "brand-voice"}, follow=True)
    assert "“Brand voice” deleted." in text_of(done)
    assert not OrganisationFile.objects.exists()
    assert "Organisation knowledge deleted" in text_of(browser.get("/activity/"))


def test_drafts_and_changes_are_listed(
    signed_in: SignedIn, admin: User, owner: User, team: Team, voice: OrganisationFile
) -> None:
    draft_save(person_id=admin.id, about=voice.about, content="My words.", based_on=1, expected_revision=0)
    write(voice, "Their words.", owner)
    browser = signed_in(admin)
    home = text_of(browser.get("/"))
    assert "version 2 was published since" in home
    assert f"{VOICE}history/compare/?from=1&amp;to=2" in home
    drafts = text_of(browser.get("/drafts/"))
    assert 'Brand voice <span class="of">of the organisation</span>' in drafts
    organisation_file_delete(file=voice, principal=SYSTEM)
    assert "A text that was deleted" in text_of(browser.get("/drafts/"))


def test_a_draft_of_somebody_who_may_not_write_any_more_remains(
    signed_in: SignedIn, teammate: User, voice: OrganisationFile
) -> None:
    draft_save(person_id=teammate.id, about=voice.about, content="My words.", based_on=1, expected_revision=0)
    assert "My words." in text_of(signed_in(teammate).get("/drafts/"))


@pytest.mark.parametrize(("words", "found"), [("brand", True), ("voice", True), ("plain words", True), ("none", False)])
def test_the_global_search_finds_it(
    words: str, found: bool, signed_in: SignedIn, teammate: User, voice: OrganisationFile
) -> None:
    page = text_of(signed_in(teammate).get("/search/", {"q": words}))
    assert (f'href="{VOICE}"' in page) == found


def previewed(browser: Client, **options: Any) -> str:
    return text_of(browser.get(f"{VOICE}preview/", {"topic": "How do we sound?", "profile": "memory", **options}))


def test_the_preview_shows_what_agents_would_receive(
    signed_in: SignedIn, admin: User, agent: Agent, team: Team, voice: OrganisationFile
) -> None:
    agent_create(slug="otto", name="Otto", profile="memory")
    draft_save(person_id=admin.id, about=voice.about, content="# How we sound\n\nLike foghorns.", based_on=1,
               expected_revision=0)  # fmt: skip
    browser = signed_in(admin)
    one = previewed(browser, agent=agent.slug)
    assert "Like foghorns" in one
    assert "has no section for it" not in one
    every = previewed(browser, agent="*")
    assert "Otto" in every
    assert agent.name in every
    panel = browser.get(f"{VOICE}preview/", headers={"HX-Request": "true"})
    assert "The profile conversation has no section for it" in text_of(panel)


def test_there_may_be_no_agents(signed_in: SignedIn, admin: User, voice: OrganisationFile) -> None:
    page = text_of(signed_in(admin).get(f"{VOICE}preview/"))
    assert "There are no agents." in page


def test_its_page_leads_to_the_contexts_that_considered_it(
    signed_in: SignedIn, admin: User, agent: Agent, voice: OrganisationFile
) -> None:
    asked = AssemblyRequest(topic="How do we sound?", profile="memory")
    context = assemble(agent=agent, principal=SYSTEM, asked=asked).assembly
    browser = signed_in(admin)
    page = text_of(browser.get(f"{VOICE}history/1/"))
    address = page.split("Used in contexts")[0].rpartition('href="')[2].split('"')[0]
    listed = text_of(browser.get(address.replace("&amp;", "&")))
    assert "“Brand voice”, version 1" in listed
    assert str(context.id) in listed
