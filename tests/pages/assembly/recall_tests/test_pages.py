"""The pages of recall tests: the list, a test with its results, the form, and a context that is kept as a test."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from agents.models import Agent
from agents.services import agent_create
from assembly.models import RecallTest, StoredProfile
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create, profile_delete
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.forms import RecallTestForm
from assembly.recall_tests.services import RecallFacts, recall_test_run, recall_test_save
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.recall_tests.conftest import create
from tests.pages.conftest import SignedIn, text_of


def path_of(test: RecallTest, page: str = "") -> str:
    return f"/recall-tests/{test.id}/{page}"


def names_of(test: RecallTest) -> list[str]:
    """The names of the fields of its expectations."""
    return [field.html_name for field in RecallTestForm(test=test).expectation_fields]


def test_the_list_shows_tests_with_their_last_results(
    refund_test: RecallTest, team: Team, teammate: User, signed_in: SignedIn
) -> None:
    agent_create(slug="ben", name="Ben", teams=[team])
    create(Expectation("include", text="x"), agent=None, team=team, name="Other")
    recall_test_run(test=refund_test, principal=SYSTEM)
    page = signed_in(teammate).get("/recall-tests/").content.decode()
    assert "Refunds" in page
    assert "fails" in page
    assert "not run yet" in page
    assert "New recall test" not in page


@pytest.fixture
def reader(teammate: User, signed_in: SignedIn) -> Client:
    """The browser of somebody who may read."""
    return signed_in(teammate)


def test_the_list_needs_as_many_queries_for_many_tests(
    refund_test: RecallTest, team: Team, reader: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(LIST_QUERIES):
        reader.get("/recall-tests/")
    for number in range(5):
        recall_test_run(test=create(Expectation("include", text=str(number)), agent=None, team=team), principal=SYSTEM)
    with django_assert_num_queries(LIST_QUERIES):
        reader.get("/recall-tests/")


LIST_QUERIES = 7
TEST_QUERIES = 6


def test_a_test_shows_its_results_with_reasons(
    refund_test: RecallTest, memory: Memory, reader: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    agent_create(slug="ben", name="Ben", teams=list(Team.objects.filter(slug="demo")))
    assert reader.post(path_of(refund_test, "run/")).status_code == 302
    with django_assert_num_queries(TEST_QUERIES):
        page = reader.get(path_of(refund_test)).content.decode()
    assert memory.text in page
    assert "must be in" in page
    assert "No candidate has this text." in page
    assert "Run now" in page
    assert path_of(refund_test, "edit/") not in page


def test_a_test_is_created_changed_archived_and_deleted(
    agent: Agent, team: Team, memory: Memory, editor: User, signed_in: SignedIn
) -> None:
    browser = signed_in(editor)
    assert browser.get("/recall-tests/new/?team=demo").status_code == 200
    sent = {"team": "demo", "agent": "", "name": "Parcels", "topic": "parcels", "profile": "", "max_tokens": "",
            "include": f"memory:{memory.id}\n\n  Some text ", "exclude": "Not this", "version": "0"}  # fmt: skip
    answer = browser.post("/recall-tests/new/", sent)
    test = RecallTest.objects.get()
    assert answer["Location"] == path_of(test)
    assert [(one["kind"], one["ref"], one["text"]) for one in test.expectations] == [
        ("include", f"memory:{memory.id}", ""),
        ("include", "", "Some text"),
        ("exclude", "", "Not this"),
    ]
    form = browser.get(path_of(test, "edit/")).content.decode()
    assert memory.text in form
    choices = dict(zip(names_of(test), ("exclude", "remove", "exclude"), strict=True))
    changed = {**sent, "include": "", "exclude": "", "version": "1", "name": "Renamed", **choices}
    assert browser.post(path_of(test, "edit/"), changed).status_code == 302
    test.refresh_from_db()
    assert (test.name, [one["kind"] for one in test.expectations]) == ("Renamed", ["exclude", "exclude"])
    browser.post(path_of(test, "archive/"))
    assert "archived" in browser.get(path_of(test)).content.decode()
    browser.post(path_of(test, "archive/"), {"restore": ""})
    assert browser.get(path_of(test, "delete/")).status_code == 200
    assert browser.post(path_of(test, "delete/"))["Location"] == "/recall-tests/"
    assert not RecallTest.objects.exists()


def test_a_stale_form_is_shown_again_with_the_choices_for_the_same_expectations(
    team: Team, editor: User, signed_in: SignedIn
) -> None:
    """Meanwhile Alpha went, Gamma must be in, Beta stayed and Delta and Epsilon came."""
    kept, gone, turned = Expectation("include", text="Beta"), "Alpha", "Gamma"
    test = create(
        Expectation("include", text=gone), kept, Expectation("exclude", text=turned), agent=None, team=team
    )  # fmt: skip
    sent = {"name": "Mine", "topic": "", "profile": "", "max_tokens": "", "include": "Zeta", "exclude": "",
            "version": "1", **dict(zip(names_of(test), ("remove", "exclude", "exclude"), strict=True))}  # fmt: skip
    meanwhile = [
        kept,
        Expectation("include", text=turned),
        Expectation("include", text="Delta"),
        Expectation("exclude", text="Epsilon"),
    ]
    facts = RecallFacts(name="Theirs", expectations=meanwhile)
    recall_test_save(test=test, facts=facts, expected_version=1, principal=SYSTEM)
    browser = signed_in(editor)
    stale = browser.post(path_of(test, "edit/"), sent)
    assert stale.status_code == 422
    page = text_of(stale)
    assert "Someone changed it meanwhile. The form has what you entered" in page
    assert gone not in page
    shown = stale.context["form"]
    assert [(field.label, field.value()) for field in shown.expectation_fields] == [
        ("“Beta”", "exclude"), ("“Gamma”", "exclude"), ("“Delta”", "include"), ("“Epsilon”", "exclude"),
    ]  # fmt: skip
    again = {**sent, "version": shown["version"].value()}
    again |= {field.html_name: field.value() for field in shown.expectation_fields}
    assert browser.post(path_of(test, "edit/"), again).status_code == 302
    test.refresh_from_db()
    assert test.name == "Mine"
    assert [(one["text"], one["kind"]) for one in test.expectations] == [
        ("Beta", "exclude"), ("Gamma", "exclude"), ("Delta", "include"), ("Epsilon", "exclude"), ("Zeta", "include"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "refused"),
    [("does not exist", "There is no profile “house”."), ("cannot be used", "The profile house cannot be used.")],
)
def test_a_profile_that_cannot_be_used_is_not_replaced_silently(
    team: Team, editor: User, signed_in: SignedIn, label: str, refused: str
) -> None:
    house = SHIPPED["operations"].replace("name: operations", "name: house")
    profile_create(name="house", content=house, principal=SYSTEM)
    test = create(Expectation("include", text="Beta"), agent=None, team=team, profile="house")
    if label == "does not exist":
        profile_delete(name="house", principal=SYSTEM)
    else:
        StoredProfile.objects.filter(name="house").update(content="name: house")
    browser = signed_in(editor)
    form = browser.get(path_of(test, "edit/"))
    assert f'<option value="house" selected>house ({label})</option>' in text_of(form)
    sent = {field.html_name: field.value() or "" for field in form.context["form"]}
    answer = browser.post(path_of(test, "edit/"), {**sent, "name": "Renamed"})
    assert answer.status_code == 422
    assert refused in text_of(answer)
    assert browser.post(path_of(test, "edit/"), {**sent, "profile": ""}).status_code == 302
    test.refresh_from_db()
    assert test.profile == ""


def test_a_text_may_be_expected_twice(team: Team, editor: User, signed_in: SignedIn) -> None:
    both = [Expectation("include", text="Beta"), Expectation("exclude", text="Beta")]
    test = create(*both, agent=None, team=team)
    sent = {"name": "Mine", "topic": "", "profile": "", "max_tokens": "", "include": "", "exclude": "", "version": "1",
            **dict(zip(names_of(test), ("include", "remove"), strict=True))}  # fmt: skip
    assert signed_in(editor).post(path_of(test, "edit/"), sent).status_code == 302
    test.refresh_from_db()
    assert [one["kind"] for one in test.expectations] == ["include"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"team": ""}, "Choose a team or an agent."),
        ({"include": ""}, "Name at least one text or item"),
        ({"include": "memory:00000000-0000-7000-8000-000000000000"}, "There is no item"),
        ({"include": "x" * 401}, "at most 400 characters"),
        ({"team": "elsewhere"}, "Select a valid choice"),
    ],
)
@pytest.mark.usefixtures("agent", "outsider")
def test_bad_values_are_named(editor: User, signed_in: SignedIn, changes: dict[str, str], message: str) -> None:
    sent = {"team": "demo", "agent": "", "name": "Parcels", "topic": "", "profile": "", "max_tokens": "",
            "include": "text", "exclude": "", "version": "0"}  # fmt: skip
    answer = signed_in(editor).post("/recall-tests/new/", {**sent, **changes})
    assert answer.status_code == 422
    assert message in answer.content.decode()


def test_a_context_is_kept_as_a_test_by_one_click(
    agent: Agent, memory: Memory, editor: User, reader: Client, signed_in: SignedIn
) -> None:
    team = Team.objects.get(slug="demo")
    asked = AssemblyRequest(topic="When do couriers collect parcels?")
    assembly = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    address = f"/contexts/{assembly.id}/recall-test/"
    page = signed_in(editor).get(f"/contexts/{assembly.id}/").content.decode()
    assert address in page
    answer = signed_in(editor).post(address)
    test = RecallTest.objects.get()
    assert answer["Location"] == path_of(test, "edit/")
    assert f"memory:{memory.id}" in [one["ref"] for one in test.expectations]
    assert reader.post(address).status_code == 403


def test_outsiders_find_nothing(refund_test: RecallTest, outsider: User, signed_in: SignedIn) -> None:
    browser = signed_in(outsider)
    assert "Refunds" not in browser.get("/recall-tests/").content.decode()
    for page in ("", "edit/", "delete/"):
        assert browser.get(path_of(refund_test, page)).status_code == 404
    for page in ("run/", "archive/", "delete/", "edit/"):
        assert browser.post(path_of(refund_test, page)).status_code == 404


def test_people_without_a_role_to_edit_are_refused(
    refund_test: RecallTest, teammate: User, signed_in: SignedIn
) -> None:
    browser = signed_in(teammate)
    assert browser.get("/recall-tests/new/").status_code == 403
    for page in ("archive/", "delete/", "edit/"):
        assert browser.post(path_of(refund_test, page)).status_code == 403
