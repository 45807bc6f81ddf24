"""Exporting and importing on pages: who may, what is shown, what is refused, and that nothing is written too early."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agents.models import Agent, AgentFile
from agents.quotas.models import QuotaLimit
from memories.archive import services, upload_limits
from memories.models import ImportPlan, ImportStatus, Job, JobStatus
from teams.models import Team, User
from tests.archives import packed
from tests.pages.conftest import SignedIn, text_of

NAME = "agents/luna/IDENTITY.md"
# Address: what the owner, the editor, the teammate (a viewer), the outsider and the admin are answered.
PAGES = {
    "/agents/luna/export/": (200, 200, 200, 404, 200),
    "/agents/luna/export/download/": (200, 200, 200, 404, 200),
    "/teams/demo/export/": (200, 200, 200, 404, 200),
    "/teams/demo/export/download/": (200, 200, 200, 404, 200),
    "/export/": (403, 403, 403, 403, 200),
    "/export/download/": (403, 403, 403, 403, 200),
    "/import/": (200, 200, 200, 200, 200),
}


@pytest.fixture(autouse=True)
def on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, an archive is read before the page is shown, unless a test says otherwise."""
    monkeypatch.setattr(services, "READING_CPU_SECONDS", 60.0)
    monkeypatch.setattr(services, "READING_SECONDS", 60.0)


def upload(browser: Client, archive: bytes, name: str = "notes.zip") -> Any:
    return browser.post("/import/", {"archive": SimpleUploadedFile(name, archive)}, follow=True)


def status_of(browser: Client, address: str) -> int:
    answer = browser.get(address)
    if answer.streaming:
        answer.getvalue()  # or its file would stay open
    return answer.status_code


@pytest.fixture
def people(owner: User, editor: User, teammate: User, outsider: User, admin: User) -> tuple[User, ...]:
    """Everybody, in the order of the table."""
    return (owner, editor, teammate, outsider, admin)


@pytest.mark.parametrize("address", PAGES)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, people: tuple[User, ...], agent: Agent
) -> None:
    assert tuple(status_of(signed_in(person), address) for person in people) == PAGES[address]


def test_the_download_is_a_zip(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    answer = signed_in(teammate).get("/agents/luna/export/download/")
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"] == 'attachment; filename="agent-luna.zip"'
    with ZipFile(BytesIO(answer.getvalue())) as archive:
        assert archive.read("agents/luna/INSTRUCTIONS.md") == b"Be kind."


def test_an_import_is_shown_before_it_is_done(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    browser = signed_in(editor)
    page = text_of(upload(browser, packed({NAME: "I am <b>Luna</b>.", "notes.txt": "x"})))
    assert "Nothing is imported yet. Items that are not in the file are not changed or deleted." in page
    assert "I am &lt;b&gt;Luna&lt;/b&gt;." in page
    assert "1 file is skipped" in page
    assert agent.files.get(file_key="IDENTITY").content == ""
    plan = ImportPlan.objects.get()
    page = text_of(browser.post(f"/import/{plan.id}/apply/", follow=True))
    assert "1 change was imported" in page
    assert agent.files.get(file_key="IDENTITY").content == "I am <b>Luna</b>."
    again = text_of(browser.post(f"/import/{plan.id}/apply/", follow=True))  # a second click
    assert "1 change was imported" in again
    assert agent.files.get(file_key="IDENTITY").version == 2


def test_what_is_refused_comes_back_with_the_form(signed_in: SignedIn, editor: User) -> None:
    answer = upload(signed_in(editor), b"no zip")
    assert answer.status_code == 422
    assert "This file is not a valid zip. Create it again and choose it again." in text_of(answer)
    assert "Choose a zip file first." in text_of(signed_in(editor).post("/import/"))
    assert not ImportPlan.objects.exists()


def test_nothing_to_change_says_so(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    page = text_of(upload(signed_in(editor), packed({"agents/luna/INSTRUCTIONS.md": "Be kind."})))
    assert "No changes" in page
    assert "/apply/" not in page


def test_what_one_may_not_change_is_told_and_stays(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    page = text_of(upload(signed_in(teammate), packed({NAME: "stolen"})))
    assert "You may read this, but not change it." in page
    assert "/apply/" in page
    assert ">Import</button>" not in page
    signed_in(teammate).post(f"/import/{ImportPlan.objects.get().id}/apply/")
    assert agent.files.get(file_key="IDENTITY").content == ""


def test_an_import_of_somebody_else_is_not_there(
    signed_in: SignedIn, editor: User, owner: User, outsider: User, agent: Agent
) -> None:
    upload(signed_in(editor), packed({NAME: "x"}))
    address = f"/import/{ImportPlan.objects.get().id}/"
    for person in (owner, outsider):
        assert signed_in(person).get(address).status_code == 404
        assert signed_in(person).post(f"{address}apply/").status_code == 404
    assert signed_in(editor).get(f"{address}apply/").status_code == 405


def test_what_was_changed_on_both_sides_can_be_chosen(
    signed_in: SignedIn, editor: User, team: Team, agent: Agent
) -> None:
    browser = signed_in(editor)
    settings = '{"marks": {"INSTRUCTIONS.md": "0000"}}'
    upload(browser, packed({"agents/luna/INSTRUCTIONS.md": "Theirs", "agents/luna/agent.json": settings}))
    plan = ImportPlan.objects.get()
    page = text_of(browser.get(f"/import/{plan.id}/"))
    assert "conflict" in page
    assert 'name="take" value="agents/luna/INSTRUCTIONS.md"' in page
    browser.post(f"/import/{plan.id}/apply/", {"take": "agents/luna/INSTRUCTIONS.md"})
    assert agent.files.get(file_key="INSTRUCTIONS").content == "Theirs"


@pytest.mark.parametrize(
    ("status", "said"), [(JobStatus.RUNNING, "3 of 9 done"), (JobStatus.PARKED, "The import failed after several")]
)
def test_a_large_import_shows_how_far_it_is(
    signed_in: SignedIn, editor: User, agent: Agent, status: JobStatus, said: str
) -> None:
    browser = signed_in(editor)
    upload(browser, packed({NAME: "x"}))
    job = Job.objects.create(kind="import_archive", steps=9, steps_done=3, status=status)
    ImportPlan.objects.update(status=ImportStatus.RUNNING, job=job)
    assert said in text_of(browser.get(f"/import/{ImportPlan.objects.get().id}/"))


@pytest.mark.deep
def test_a_page_stays_short_however_much_would_change(signed_in: SignedIn, admin: User) -> None:
    lines = "\n".join(f"- [fact] number {number}" for number in range(250))
    browser = signed_in(admin)
    page = text_of(upload(browser, packed({f"agents/a{number}/MEMORY.md": lines for number in range(8)})))
    assert page.count('class="differs"') == 3 * 99  # the agents themselves have nothing to compare
    assert page.count("151 more changes are not listed.") == 3
    assert "2,008 changes. Each creates a version" in page
    assert "Page 1 of 3" in page
    address = f"/import/{ImportPlan.objects.get().id}/"
    last = text_of(browser.get(f"{address}?page=3"))
    assert last.count('class="differs"') == 2 * 99
    assert "Agent a6" in last
    assert 'class="btn main"' not in last, "the button is on the page with all that can be chosen"
    assert "Page 3 of 3" in text_of(browser.get(f"{address}?page=99999"))
    assert "Page 1 of 3" in text_of(browser.get(f"{address}?page=" + "9" * 5_000))


@pytest.mark.finding("5.5a")
def test_what_can_be_chosen_comes_first(signed_in: SignedIn, admin: User, agent: Agent) -> None:
    lines = "\n".join(f"- [fact] number {number}" for number in range(120))
    texts = {f"agents/a{number}/MEMORY.md": lines for number in range(8)}
    exported = json.dumps({"marks": {"IDENTITY.md": "0" * 16}})
    AgentFile.objects.filter(agent=agent, file_key="IDENTITY").update(content="here", version=2)
    page = text_of(upload(signed_in(admin), packed({**texts, NAME: "there", "agents/luna/agent.json": exported})))
    assert page.index("Agent Luna") < page.index("Agent a0")
    assert f'name="take" value="{NAME}"' in page


@pytest.mark.finding("5.5a")
def test_a_large_zip_is_read_in_the_background(
    signed_in: SignedIn, editor: User, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "READING_CPU_SECONDS", 0)
    browser = signed_in(editor)
    page = text_of(upload(browser, packed({NAME: "x"})))
    assert "Reading the zip" in page
    assert "0 of 1 agents and teams compared" in page
    address = f"/import/{ImportPlan.objects.get().id}/"
    assert browser.post(f"{address}apply/").status_code == 302
    services.import_plan_in_background(Job.objects.get(), lambda _steps: None)
    assert "Review changes" in text_of(browser.get(address))


@pytest.mark.finding("5.5a")
def test_what_is_found_not_possible_in_the_background_is_said(
    signed_in: SignedIn, editor: User, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "READING_CPU_SECONDS", 0)
    monkeypatch.setattr(upload_limits, "MAX_MEMORIES", 1)
    browser = signed_in(editor)
    upload(browser, packed({"agents/luna/MEMORY.md": "- [a] one\n- [a] two"}))
    services.import_plan_in_background(Job.objects.get(), lambda _steps: None)
    page = text_of(browser.get(f"/import/{ImportPlan.objects.get().id}/"))
    assert "There are more than 1 memories in it." in page


@pytest.mark.finding("5.5b")
def test_more_texts_than_are_left_of_the_day_are_refused_with_the_reason(
    signed_in: SignedIn, editor: User, agent: Agent
) -> None:
    QuotaLimit.objects.create(subject=editor.principal.ref, by_organisation=True, text_bytes_per_day=1_000_000)
    response = upload(signed_in(editor), packed({"agents/luna/IDENTITY.md": "x" * 1_200_000}))
    assert (response.status_code, response["Retry-After"]) == (429, "3600")
    page = text_of(response)
    assert "This request stores 1.2 MB of text. The limit for you is 1.0 MB per day, of which 1.0 MB are left." in page
    assert "an admin can raise the limit" in page
    assert not ImportPlan.objects.exists()


@pytest.mark.finding("5.5a")
def test_who_is_in_no_team_uploads_nothing(
    signed_in: SignedIn, django_user_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "read_zip", None)  # it is not even opened
    browser = signed_in(django_user_model.objects.create_user("nobody"))
    assert "You are in no team, so there is nothing to import into. To join a team, ask one of its admins." in text_of(
        browser.get("/import/")
    )
    assert upload(browser, packed({NAME: "x"})).status_code == 403


def test_an_import_is_found_again(signed_in: SignedIn, editor: User, owner: User, agent: Agent) -> None:
    upload(signed_in(editor), packed({NAME: "x"}), "spring.zip")
    page = text_of(signed_in(editor).get("/import/"))
    assert f"/import/{ImportPlan.objects.get().id}/" in page
    assert "spring.zip" in page
    assert "Pending review" in page
    assert "spring.zip" not in text_of(signed_in(owner).get("/import/"))
