"""Every page for everybody: axe and the browser find nothing; it is light, stands still, fits, and needs no script."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone
from playwright.sync_api import Browser, Page, ViewportSize, expect

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import daily_log_append
from assembly.conflicts.services import conflict_resolve
from assembly.contexts.exports import context_file_create
from assembly.models import (
    Assembly,
    Conflict,
    ExternalSource,
    Proposal,
    RecallTest,
    StoredProfile,
    StoredRule,
    Webhook,
    WebhookDelivery,
)
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create, recall_test_run
from assembly.simulation.proposals.services import proposal_create
from assembly.simulation.simulate import Overrides
from config.http.encryption import encrypt
from memories.archive.services import import_begin, import_create
from memories.lifecycle.kv_policies import kv_policy_save
from memories.lifecycle.kv_policy import DEFAULT_POLICIES
from memories.models import ImportPlan, Job, LifecycleReport, Memory
from memories.services import facts_of, memory_update
from privacy.corrections.corrected_text import ValueCorrection
from privacy.corrections.services import correction_create
from privacy.models import (
    CorrectionResult,
    ErasureState,
    Subject,
    SubjectCorrection,
    SubjectErasure,
    SubjectMention,
)
from privacy.subjects.services import SubjectFacts, subject_create
from teams.level_changes import level_set
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_create, file_save
from tests.archives import packed
from tests.assembly.conflicts.conflict_factories import conflict_between, remember
from tests.browser.conftest import PASSWORD, serving, sign_in_by_form, team_that_works
from tests.browser.page_checks import (
    MOST_BYTES,
    Scales,
    narrow_or_wide,
    shifts,
    too_wide,
    unreadable,
    violations,
    violations_in_both_schemes,
)
from tests.browser.routes import page_routes, route_of
from tests.memories.worked_agent import keep

pytestmark = pytest.mark.browser

PAGES = (
    "/",
    "/drafts/",
    "/drafts/{draft}/",
    "/drafts/{draft}/forget/",
    "/people/",
    "/people/?q=nobody",
    "/people/{person}/",
    "/people/{person}/second-factor/",
    "/agents/",
    "/agents/new/",
    "/agents/luna/",
    "/agents/luna/as-of/",
    "/agents/luna/as-of/?day={today}&time={moment}&team=demo&topic=the+stage&beside=on",
    "/agents/luna/settings/",
    "/agents/luna/delete/",
    "/agents/luna/keys/",
    "/agents/luna/keys/{key}/revoke/",
    "/teams/demo/keys/",
    "/keys/",
    "/keys/{key}/limits/",
    "/limits/",
    "/agents/luna/limits/",
    "/agents/luna/keys/{key}/limits/",
    "/teams/demo/limits/",
    "/people/{person}/limits/",
    "/keys/{key}/revoke/",
    "/agents/luna/files/IDENTITY/",
    "/agents/luna/files/KNOWLEDGE/",
    "/agents/luna/files/KNOWLEDGE/history/",
    "/agents/luna/files/KNOWLEDGE/history/2/",
    "/agents/luna/files/KNOWLEDGE/history/2/?as=source",
    "/agents/luna/files/KNOWLEDGE/history/compare/",
    "/agents/luna/files/KNOWLEDGE/history/compare/?as=source",
    "/agents/luna/files/KNOWLEDGE/preview/",
    "/agents/luna/logs/",
    "/agents/luna/logs/?q=rehearsed",
    "/agents/luna/logs/?month=2020-01",
    "/agents/luna/logs/{today}/",
    "/agents/luna/logs/{today}/history/",
    "/agents/luna/logs/{today}/history/1/",
    "/agents/luna/logs/{today}/edit/",
    "/agents/luna/logs/{today}/preview/",
    "/agents/luna/logs/{today}/history/compare/",
    "/agents/luna/logs/2020-01-01/",
    "/agents/luna/memories/",
    "/agents/luna/memories/?q=stage",
    "/agents/luna/events/",
    "/agents/luna/events/{event}/",
    "/agents/luna/sessions/",
    "/agents/luna/sessions/{session}/",
    "/agents/luna/graph/",
    "/agents/luna/graph/?entity={entity}&depth=3",
    "/agents/luna/graph/?q=hall",
    "/agents/luna/entities/",
    "/agents/luna/entities/new/",
    "/agents/luna/entities/{entity}/",
    "/agents/luna/entities/{entity}/edit/",
    "/agents/luna/entities/{entity}/delete/",
    "/agents/luna/entities/{entity}/relations/new/",
    "/agents/luna/relations/{relation}/edit/",
    "/agents/luna/relations/{relation}/delete/",
    "/agents/luna/patterns/",
    "/agents/luna/patterns/new/",
    "/agents/luna/patterns/{pattern}/",
    "/agents/luna/patterns/{pattern}/edit/",
    "/agents/luna/patterns/{pattern}/delete/",
    "/agents/luna/threads/",
    "/agents/luna/threads/new/",
    "/agents/luna/threads/{thread}/",
    "/agents/luna/threads/{thread}/edit/",
    "/agents/luna/threads/{thread}/delete/",
    "/agents/luna/tools/",
    "/agents/luna/tools/new/",
    "/agents/luna/tools/{tool}/",
    "/agents/luna/tools/{tool}/edit/",
    "/agents/luna/tools/{tool}/delete/",
    "/agents/luna/documents/",
    "/agents/luna/documents/new/",
    "/agents/luna/documents/{document}/",
    "/agents/luna/documents/{document}/?as=pieces",
    "/agents/luna/documents/{document}/edit/",
    "/agents/luna/documents/{document}/delete/",
    "/agents/luna/tasks/",
    "/agents/luna/tasks/push/",
    "/agents/luna/tasks/pop/",
    "/agents/luna/memories/?q=nothing&by=words&which=pinned",
    "/agents/luna/memories/new/",
    "/agents/luna/memories/merge/",
    "/teams/demo/memories/new/",
    "/teams/demo/memories/merge/",
    "/teams/demo/memories/merge/?memory={one}&memory={other}",
    "/memories/{one}/",
    "/memories/{one}/edit/",
    "/memories/{one}/retire/",
    "/memories/{one}/versions/",
    "/memories/{one}/versions/1/",
    "/memories/{one}/versions/2/",
    "/memories/{other}/",
    "/agents/luna/export/",
    "/teams/demo/export/",
    "/export/",
    "/import/",
    "/import/{plan}/",
    "/import/{imported}/",
    "/organisation/",
    "/organisation/new/",
    "/organisation/files/house-style/",
    "/organisation/files/house-style/?step=publish",
    "/organisation/files/house-style/settings/",
    "/organisation/files/house-style/delete/",
    "/organisation/files/house-style/history/",
    "/organisation/files/house-style/history/1/",
    "/organisation/files/house-style/history/compare/",
    "/organisation/files/house-style/preview/",
    "/organisation/files/house-style/preview/?topic=&agent=*",
    "/teams/",
    "/teams/new/",
    "/teams/demo/",
    "/teams/demo/settings/",
    "/teams/demo/retention/",
    "/retention/",
    "/storage/",
    "/storage/code_snippets/",
    "/storage/general/?version=1",
    "/storage/reports/{report}/",
    "/teams/demo/storage/",
    "/teams/demo/storage/general/",
    "/teams/demo/delete/",
    "/teams/demo/members/",
    "/teams/demo/files/GOALS/",
    "/teams/demo/files/GOALS/history/",
    "/teams/demo/files/GOALS/history/compare/",
    "/teams/demo/files/GOALS/?step=publish",
    "/teams/demo/files/GOALS/?step=forget",
    "/teams/demo/files/GOALS/preview/",
    "/teams/demo/files/GOALS/preview/?topic=&agent=*",
    "/teams/demo/files/GOALS/history/1/",
    "/teams/demo/memories/",
    "/preview/",
    "/preview/?agent=luna",
    "/contexts/",
    "/contexts/?agent=nobody",
    "/contexts/?agent=luna&when=week&outcome=excluded&included_ref=/agents/luna/files/KNOWLEDGE/",
    "/contexts/lists/{list}/",
    "/contexts/download/?agent=luna",
    "/contexts/{context}/",
    "/contexts/{context}/items/",
    "/contexts/{context}/items/?which=out&q=stage",
    "/contexts/{context}/items/?q=nothing",
    "/contexts/{context}/items/?item=0",
    "/contexts/{context}/rules-and-sources/",
    "/contexts/{context}/exact/",
    "/contexts/{context}/json/",
    "/contexts/{over}/",
    "/contexts/{context}/rerun/",
    "/contexts/{context}/what-if/",
    "/contexts/compare/?before={context}",
    "/contexts/compare/?before={context}&after={over}",
    "/notifications/",
    "/recall-tests/",
    "/recall-tests/?team=demo",
    "/recall-tests/new/",
    "/recall-tests/{recall}/",
    "/recall-tests/{recall}/edit/",
    "/recall-tests/{recall}/delete/",
    "/drafts/{draft}/recall-tests/",
    "/proposals/",
    "/proposals/{proposal}/?try=1",
    "/proposals/{proposal}/delete/",
    "/contexts/{context}/why-not/",
    "/contexts/{context}/why-not/?q=stage+number+0",
    "/profiles/",
    "/profiles/new/",
    "/profiles/coding/",
    "/profiles/coding/edit/",
    "/profiles/coding/learned-weights/",
    "/profiles/conversation/learned-weights/",
    "/profiles/conversation/",
    "/profiles/house/",
    "/profiles/house/delete/",
    "/profiles/house/history/",
    "/profiles/house/history/1/",
    "/profiles/house/history/compare/",
    "/profiles/broken/",
    "/jobs/",
    "/jobs/{job}/",
    "/rules/",
    "/rules/new/",
    "/rules/new/?as=text",
    "/rules/hush/",
    "/rules/hush/edit/",
    "/rules/hush/delete/",
    "/rules/hush/edit/?as=text",
    "/rules/hush/history/",
    "/rules/hush/history/1/",
    "/rules/hush/history/compare/",
    "/rules/lost/",
    "/external-sources/",
    "/external-sources/new/",
    "/external-sources/weather/",
    "/external-sources/weather/edit/",
    "/external-sources/weather/delete/",
    "/trends/",
    "/trends/?days=7",
    "/teams/demo/trends/",
    "/agents/luna/trends/?days=90",
    "/alerts/",
    "/alerts/?state=all",
    "/alerts/?agent=nobody",
    "/conflicts/",
    "/conflicts/?status=all",
    "/conflicts/?agent=nobody",
    "/conflicts/{conflict}/",
    "/conflicts/{decided}/",
    "/subjects/",
    "/subjects/new/",
    "/subjects/{subject}/",
    "/subjects/{subject}/?status=dismissed",
    "/subjects/{subject}/edit/",
    "/subjects/{subject}/restriction/",
    "/subjects/{subject}/correct/",
    "/subjects/{subject}/corrections/{correction}/",
    "/subjects/{subject}/files/",
    "/subjects/{subject}/delete/",
    "/subjects/{subject}/erase/",
    "/subjects/{subject}/hold/",
    "/agents/luna/hold/",
    "/teams/story-room/hold/",
    "/erasures/",
    "/erasures/{erasure}/",
    "/webhooks/",
    "/webhooks/new/",
    "/webhooks/{webhook}/",
    "/webhooks/{webhook}/edit/",
    "/webhooks/{webhook}/secret/",
    "/webhooks/{webhook}/delete/",
    "/accounts/password/change/",
    "/accounts/logout/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
    "/accounts/sessions/",
    "/accounts/settings/",
    "/activity/",
    "/readings/",
    "/readings/?q=nobody",
    "/readings/reason/?next=/subjects/",
    "/sensitivity/memory/{one}/",
    "/search/",
    "/search/?q=luna",
    "/search/?q=zzzz",
    "/accounts/reauthenticate/",
)
GUARDED = (
    "/accounts/2fa/",
    "/accounts/2fa/totp/deactivate/",
    "/accounts/2fa/recovery-codes/",
    "/accounts/2fa/recovery-codes/generate/",
    "/accounts/2fa/reauthenticate/",
)
"""Pages of somebody who has set up a second factor."""
SIGNED_OUT = ("/accounts/login/", "/accounts/inactive/", "/accounts/2fa/authenticate/")
NOT_SEEN = {
    "account_set_password": "for accounts without a password, of which there are none: it leads on to changing it",
    "mfa_download_recovery_codes": "a file",
    "invitation": "shown once, after a form: test_the_page_of_an_invitation",
}
MISSING = ("/nope/", "/agents/nope/")
GROUPS = 8
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 800}


class Facts(dict[str, Any]):
    """What stands in the addresses; what is not known is some id."""

    def __missing__(self, name: str) -> str:
        return "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static files as `serve` collects them: compressed, and named after their content."""
    folder = tmp_path_factory.mktemp("static")
    with override_settings(STATIC_ROOT=folder):
        call_command("collectstatic", verbosity=0, interactive=False)
    return folder


@pytest.fixture(scope="module")
def static_files(collected: Path) -> Iterator[None]:
    """Static files as in production."""
    with override_settings(STATIC_ROOT=collected):
        yield


@pytest.fixture(scope="module")
def server(module_database: str, static_files: None) -> Iterator[str]:
    """One for all that is looked at here: looking changes nothing."""
    with serving() as address:
        yield address


@pytest.fixture(scope="module")
def team(server: str) -> Team:
    """The one team."""
    return team_that_works()


@pytest.fixture(scope="module")
def olga(team: Team) -> User:
    """Olga is an admin of the organisation here."""
    person = User.objects.get(username="olga")
    person.is_admin = True
    person.save()
    return person


@pytest.fixture(scope="module")
def facts(olga: User, team: Team) -> Facts:
    """One of everything; of profiles and rules a second one that can no longer be read."""
    agent = Agent.objects.get(slug="luna")
    for name, content in (("house", SHIPPED["conversation"]), ("broken", "sections: 1")):
        text = content.replace("name: conversation", f"name: {name}")
        profile = file_create(file=StoredProfile(name=name, content=text), author=SYSTEM.author)
        file_save(file=profile, content=f"{text}\n", expected_version=1, author=SYSTEM.author)
    for name, content in (
        ("hush", "then: {exclude: [{source: daily_logs}], boost: [{tag: a, weight: 2}]}"),
        ("lost", ""),
    ):
        rule = file_create(file=StoredRule(name=name, content=content, team=team), author=SYSTEM.author)
        file_save(file=rule, content=f"{content}\n", expected_version=1, author=SYSTEM.author)
    url = "https://weather.example.org/"
    ExternalSource.objects.create(name="weather", label="Weather", url=url, sealed_secret="x")
    secret = encrypt(SECRET)
    webhook = Webhook.objects.create(
        team=team, label="Chat", url="https://hooks.example.org/", events=["alert.opened"], sealed_secret=secret
    )
    answered = {"attempts": 1, "status": 503, "ms": 40, "answer": "Not now.", "fault": "It did not take the message."}
    WebhookDelivery.objects.create(webhook=webhook, event="alert.opened", body="{}", **answered)
    follow_assemblies(list(Assembly.objects.order_by("id")))
    today = agent.today(timezone.now())
    daily_log_append(agent=agent, date=today, text="Went on.", principal=olga.principal)
    about = team.files.get(file_key="GOALS").about
    house_style = organisation_file_create(
        key="house-style", title="House style", content="# Dates\n\nAs 3 December.", principal=olga.principal
    )
    file_save(file=house_style, content="# Dates\n\nIn full.", expected_version=1, author=olga.principal.author)
    draft_save(person_id=olga.id, about=house_style.about, content="# Dates", based_on=2, expected_revision=0)
    draft = draft_save(person_id=olga.id, about=about, content="Half a thought", based_on=1, expected_revision=0)
    kept = keep(agent, olga.principal, entities=60, relations=90, events=60)
    one, other = _memories(team)
    shown, done = _imports(olga)
    conflict, decided = _conflicts(agent, team, olga)
    return Facts(
        {name: getattr(kept, name).pk for name in kept.__slots__},
        today=today.isoformat(),
        moment=f"{timezone.now():%H:%M:%S}",
        context=Assembly.objects.get(topic="the stage").id,
        list=context_file_create(parameters={}, kind="csv", principal=olga.principal).id,
        over=Assembly.objects.get(budget=1).id,
        draft=draft.id,
        recall=_recall_test(team).id,
        subject=(subject := _subject()).id,
        correction=_correction(subject).id,
        erasure=_erasure().id,
        proposal=_proposal(olga).id,
        plan=shown.id,
        imported=done.id,
        one=one.id,
        other=other.id,
        conflict=conflict.id,
        decided=decided.id,
        person=olga.id,
        webhook=webhook.id,
        report=_storage(one, olga).id,
        key=api_key_create(agent=agent, name="Chat", scopes=["files:write"])[0].id,
        job=Job.objects.create(agent=agent, kind="split_documents", status="running", attempts=1, steps=9).id,
    )


def _imports(olga: User) -> list[ImportPlan]:
    """One that is only shown, and one that was done."""
    plans = [
        import_create(
            archive=packed({"teams/demo/GOALS.md": content, "teams/demo/RULES.md": b"\xff", "notes.txt": ""}),
            file_name="demo.zip",
            principal=olga.principal,
        )
        for content in ("# New goals", "# Other goals")
    ]
    import_begin(plan=plans[1], chosen=(), principal=olga.principal)
    return plans


def _storage(memory: Memory, olga: User) -> LifecycleReport:
    """A report of a run that left a memory out of search, after a policy was saved; another step of it failed."""
    policy = DEFAULT_POLICIES["general"].as_json()
    kv_policy_save(
        content_type="general", team=None, policy=policy, expected_version=0, note="Sooner", principal=olga.principal
    )
    report = LifecycleReport(
        run=uuid4(), step="evict", started=timezone.now(), changed=1, things=[f"memory:{memory.id}"]
    )
    report.save(force_insert=True)
    failure = {"step": "freeze", "error": "PermissionError"}
    LifecycleReport.objects.create(run=uuid4(), step="failed", started=timezone.now(), changed=0, detail=failure)
    return report


def _subject() -> Subject:
    """A subject whom a memory names."""
    made = subject_create(facts=SubjectFacts("Somebody Known", "visitor", "A note."), principal=SYSTEM)
    memory = Memory.objects.order_by("id")[0]
    SubjectMention.objects.create(
        subject=made, ref_kind="memory", thing=memory.id, agent_id=memory.agent_id, team_id=memory.team_id,
        spellings=["stage"],
    )  # fmt: skip
    return made


def _correction(subject: Subject) -> SubjectCorrection:
    """One that was told about, of a name in a memory."""
    value = ValueCorrection("name", subject.name, "Somebody Unknown")
    made = correction_create(subject=subject, value=value, reason="Misspelt.", things=[], principal=SYSTEM)
    recipient = {"agent": str(uuid4()), "name": "Luna", "contexts": 2, "last_at": "2026-11-26T05:04:59+00:00"}
    made.told, made.finished_at = {"contexts": 2, "recipients": [recipient]}, timezone.now()
    made.save()
    CorrectionResult.objects.create(
        correction=made, ref_kind="memory", thing=subject.mentions.get().thing, status="corrected",
        version_before=1, version=2, places=1,
    )  # fmt: skip
    return made


def _erasure() -> SubjectErasure:
    """A finished one, with its report."""
    place = {"place": "memories", "treatment": "replaced", "found": 3, "destroyed": 3}
    report = {
        "things": {"memories": 2},
        "places": [place, {**place, "place": "events", "found": 0, "destroyed": 0}],
        "records": {"pieces": 13, "contexts": 2, "topics": 1, "bodies": 1},
        "rewritten": {"memories": "rewritten"},
        "search": {"places": 57, "vectors": 11, "found": 0},
        "write_ahead": {"segments": ["000000010000000000000001"], "gone_by": "2026-11-26T05:04:59+00:00", "notes": []},
    }
    return SubjectErasure.objects.create(
        number=1, subject_id=uuid4(), requested_by="system", requester_name="Olga", reason="Ticket 7",
        state=ErasureState.FINISHED, report=report, sha256=bytes(32), completed_at=timezone.now(),
    )  # fmt: skip


def _recall_test(team: Team) -> RecallTest:
    """One that was run, and fails."""
    facts = RecallFacts(
        name="The stage", topic="the stage", expectations=[Expectation("include", text="A text that nobody wrote")]
    )
    test = recall_test_create(agent=None, team=team, facts=facts, principal=SYSTEM)
    recall_test_run(test=test, principal=SYSTEM)
    return test


def _proposal(olga: User) -> Proposal:
    """One with a wish of each kind."""
    wishes = Overrides(
        max_tokens=500,
        topic="the empty stage",
        profile="coding",
        tokenizer="chars4",
        with_rule="then: {exclude: [{path: RULES}]}\n",
        caps={"knowledge": 50},
        files={"KNOWLEDGE": 1},
    )
    told = Assembly.objects.get(topic="the stage")
    proposal, _found = proposal_create(assembly=told, wishes=wishes, note="Say less", principal=olga.principal)
    return proposal


def _memories(team: Team) -> list[Memory]:
    """One that was changed and is pinned, and one that was retired."""
    kept = list(Memory.objects.filter(team=team).order_by("id")[:2])
    for memory, text, change in zip(
        kept,
        ("The first stage is free", "No stage is free"),
        ({"pinned": True}, {"retired_because": "It was sold."}),
        strict=True,
    ):
        facts = replace(facts_of(memory), text=text)
        memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM, **change)  # type: ignore[arg-type]
    # Whoever reads it, is in the log.
    level_set(row=kept[0], level=Sensitivity.CONFIDENTIAL, note="A price", principal=SYSTEM)
    return kept


def _conflicts(agent: Agent, team: Team, olga: User) -> list[Conflict]:
    """One that is open, and one that was decided, of a memory of the agent and one of the team each."""
    kinds = (("Doors", "8", "9"), ("Tills", "10", "half past 10"))
    conflicts = [
        conflict_between(
            remember(agent, f"{what} of the hall open at {mine} in the morning."),
            remember(team, f"{what} of the hall open at {ours} in the morning."),
        )
        for what, mine, ours in kinds
    ]
    conflict_resolve(conflict=conflicts[1], choice="left", reason="Since May.", principal=olga.principal)
    return conflicts


def test_every_page_is_in_the_list() -> None:
    """A new page joins PAGES, a route that shows none NO_PAGES in routes.py."""
    seen = {
        route_of(urlsplit(address.format_map(Facts(today="2026-11-21"))).path)
        for address in (*PAGES, *GUARDED, *SIGNED_OUT)
    }
    assert page_routes() - seen == set(NOT_SEEN)


@pytest.mark.parametrize("group", [0, *(pytest.param(group, marks=pytest.mark.deep) for group in range(1, GROUPS))])
def test_every_page_suits_everybody(group: int, page: Page, server: str, facts: Facts, complaints: list[str]) -> None:
    sign_in_by_form(page, server)
    found = look_at(page, [server + address.format_map(facts) for address in PAGES[group::GROUPS]])
    assert found == [], "\n".join(found)


def test_pages_about_signing_in_suit_everybody(
    page: Page, browser: Browser, server: str, complaints: list[str]
) -> None:
    careful = User.objects.create_user("careful", PASSWORD)
    sign_in_by_form(page, server, "careful")
    TOTP.activate(careful, generate_totp_secret())
    RecoveryCodes.activate(careful)
    found = look_at(page, [server + address for address in GUARDED])
    stranger = browser.new_page()
    found += look_at(stranger, [server + address for address in SIGNED_OUT[:-1]])
    stranger.goto(f"{server}/accounts/login/")
    stranger.get_by_label("Username").fill("careful")
    stranger.get_by_label("Password").fill(PASSWORD)
    stranger.get_by_role("button", name="Sign in").click()
    found += look_at(stranger, [server + SIGNED_OUT[-1]])
    stranger.context.close()
    assert found == []


def look_at(page: Page, addresses: list[str]) -> list[str]:
    """All that is wrong with these pages, as who uses `page` sees them."""
    assert page.context.browser
    plain = page.context.browser.new_page(
        storage_state=page.context.storage_state(), java_script_enabled=False, viewport=NARROW
    )
    scales = Scales(page)
    found = []
    for address in addresses:
        found += look_at_one(page, plain, scales, address)
    plain.context.close()
    return found


def look_at_one(page: Page, plain: Page, scales: Scales, address: str) -> list[str]:
    """All that is wrong with one page, on a wide screen and in `plain`, which is narrow and runs no scripts."""
    page.set_viewport_size(WIDE)
    scales.empty()
    response = page.goto(address)
    found = [] if response and response.status == 200 else [f"{address}: answered {response and response.status}"]
    found += [] if scales.bytes < MOST_BYTES else [f"{address}: {scales.bytes:,} bytes"]
    found += shifts(page)
    found += violations_in_both_schemes(page) + narrow_or_wide(page)
    plain.goto(address)
    return found + unreadable(plain) + shifts(plain, scripts=False)


def test_the_page_of_an_invitation(page: Page, server: str, olga: User, complaints: list[str]) -> None:
    invited = User.objects.create_user("forgetful", PASSWORD)
    sign_in_by_form(page, server)
    page.goto(f"{server}/people/{invited.pk}/")
    page.get_by_role("button", name="password").click()
    expect(page).to_have_url(f"{server}/people/{invited.pk}/invitation/")
    assert shifts(page) + violations_in_both_schemes(page) + too_wide(page, 320, 2560) == []


def test_pages_of_errors(page: Page, server: str, olga: User) -> None:
    sign_in_by_form(page, server)
    found = []
    for address in MISSING:
        page.goto(server + address)
        found += violations(page)
    page.goto(f"{server}/teams/demo/members/")
    page.get_by_label("Username").fill("nobody")
    page.get_by_role("button", name="Add").click()
    found += violations(page)
    assert found == []
