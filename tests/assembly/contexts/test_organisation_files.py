"""Files of the organisation in contexts: their passages are linked, found, compared and explained by the file."""

import pytest
from pytest_django import DjangoAssertNumQueries

from agents.models import Agent
from assembly.comparison.causes import Cause
from assembly.comparison.presentation import cause_addresses
from assembly.contexts.links import ItemLinks
from assembly.contexts.search.criteria import ContextQuery, ReferenceQuery
from assembly.contexts.search.search import search_contexts
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from teams.models import OrganisationFile, Team, User
from teams.organisation.services import organisation_file_create, organisation_file_delete
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.client import Api

pytestmark = pytest.mark.django_db
VOICE = "# How we sound\n\nPlain words, and few."
ADDRESS = "/organisation/files/brand-voice/"


@pytest.fixture
def voice(db: None) -> OrganisationFile:
    return organisation_file_create(key="brand-voice", title="Brand voice", content=VOICE, principal=SYSTEM)


def assembled(agent: Agent, team: Team | None = None) -> Assembly:
    asked = AssemblyRequest(topic="How do we sound?", profile="memory")
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly


def found(named: str, ref: str = "") -> set[object]:
    wanted = ContextQuery(contains=ReferenceQuery(named, ref or named))
    return {one.id for one in search_contexts(visible=VisibleOwners(SYSTEM), wanted=wanted, limit=9).contexts}


def test_a_passage_leads_to_the_version_of_its_file(agent: Agent, voice: OrganisationFile) -> None:
    told = load_record(assembled(agent))
    (candidate,) = [one for one in told.inputs.candidates if one.ref.startswith("organisation_file:")]
    assert candidate.ref == f"{voice.ref}#0"
    links = ItemLinks(agent.slug, "")
    assert links.address_of(candidate) == f"{ADDRESS}history/1/"
    organisation_file_delete(file=voice, principal=SYSTEM)
    assert ItemLinks(agent.slug, "").address_of(candidate) == ""


def test_contexts_are_found_by_the_file_and_its_version(agent: Agent, voice: OrganisationFile) -> None:
    first = assembled(agent).id
    file_save(file=voice, content=f"{VOICE}\n\nFewer.", expected_version=1, author=SYSTEM.author)
    second = assembled(agent).id
    assert found(voice.about) == {first, second}
    assert found(voice.about, f"{voice.about}@1") == {first}
    assert found(voice.about, f"{voice.about}@2") == {second}
    assert found(f"organisation_file:{agent.id}") == set()


def test_a_rerun_names_what_changed(agent: Agent, admin_api: Api, admin: User, voice: OrganisationFile) -> None:
    context = assembled(agent)
    file_save(file=voice, content="Fewer.", expected_version=1, author=admin.principal.author, note="Shorter")
    answer = admin_api.get(f"assemblies/{context.id}/rerun").json()
    causes = [cause for change in answer["changes"] for cause in change["causes"]]
    assert {cause["kind"] for cause in causes} == {"file_changed"}
    messages = {cause["message"].partition(" on ")[0] for cause in causes}
    assert messages == {"Brand voice: version 1 → version 2 by Grace Admin", "Brand voice was changed by Grace Admin"}


def test_a_new_file_is_told(agent: Agent, admin_api: Api, voice: OrganisationFile) -> None:
    context = assembled(agent)
    organisation_file_create(key="doors", title="Doors", content="Locked at six.", principal=SYSTEM)
    answer = admin_api.get(f"assemblies/{context.id}/rerun").json()
    kinds = {cause["kind"] for change in answer["changes"] for cause in change["causes"]}
    assert "item_added" in kinds
    assert "file_changed" not in kinds


def test_a_deleted_file_is_told(agent: Agent, admin_api: Api, voice: OrganisationFile) -> None:
    context = assembled(agent)
    organisation_file_delete(file=voice, principal=SYSTEM)
    answer = admin_api.get(f"assemblies/{context.id}/rerun").json()
    causes = [cause for change in answer["changes"] for cause in change["causes"]]
    assert {cause["kind"] for cause in causes} == {"item_deleted"}


@pytest.mark.parametrize("words", ["{about}", "{ref}", "{id}", "Brand voice"])
def test_why_not_finds_its_passages(words: str, agent: Agent, admin_api: Api, voice: OrganisationFile) -> None:
    context = assembled(agent)
    sought = words.format(about=voice.about, ref=voice.ref, id=voice.id)
    answer = admin_api.get(f"assemblies/{context.id}/why-not?q={sought}").json()
    assert [one["ref"] for one in answer["matches"]] == [f"{voice.ref}#0"]


def test_why_not_says_that_a_profile_has_no_section(agent: Agent, admin_api: Api, voice: OrganisationFile) -> None:
    asked = AssemblyRequest(topic="How do we sound?")
    context = assemble(agent=agent, principal=SYSTEM, asked=asked).assembly
    answer = admin_api.get(f"assemblies/{context.id}/why-not?q=Brand voice").json()
    assert [one["code"] for one in answer["not_considered"]] == ["no_section"]


def test_the_addresses_of_changed_files_are_read_together(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    files = [organisation_file_create(key=f"file-{n}", title="File", principal=SYSTEM) for n in range(3)]
    causes = [Cause("file_changed", name=file.title, ref=file.about, before=1, after=2) for file in files]
    with django_assert_num_queries(1):
        addresses = cause_addresses(causes, None, None)
    assert list(addresses.values()) == [f"/organisation/files/file-{n}/history/compare/?from=1&to=2" for n in range(3)]
    with django_assert_num_queries(0):
        cause_addresses([], None, None)
