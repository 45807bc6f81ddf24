"""The page of notifications, its number in the menu, and the setting for e-mail."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from assembly.models import Notification
from assembly.notifications.services import alert_notify
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.simulation.proposals.services import proposal_create, proposal_decide
from assembly.simulation.simulate import Overrides
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def alerts(agent: Agent, team: Team, editor: User) -> None:
    for number in range(3):
        alert_notify(alert_on(agent, team, cause=str(number)))


@pytest.mark.usefixtures("alerts")
def test_the_menu_counts_what_is_unread(signed_in: SignedIn, editor: User, teammate: User) -> None:
    count = '<span class="count">3</span>'
    assert count in signed_in(editor).get("/notifications/").content.decode()
    assert count in signed_in(editor).get("/teams/").content.decode()
    assert 'class="count"' not in signed_in(teammate).get("/teams/").content.decode()


@pytest.mark.usefixtures("alerts")
def test_one_is_opened_and_read(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    browser = signed_in(editor)
    one = Notification.objects.filter(user=editor).earliest("created")
    page = text_of(browser.get("/notifications/"))
    assert page.count("new") >= 3
    assert f'<a href="/notifications/{one.id}/">Luna: Knowledge truncated</a>' in page
    response = browser.get(f"/notifications/{one.id}/")
    assert response["Location"] == f"/alerts/?state=all&agent=luna#alert-{one.alert_id}"
    assert f'id="alert-{one.alert_id}"' in browser.get(response["Location"]).content.decode()
    assert '<span class="count">2</span>' in browser.get("/notifications/").content.decode()


@pytest.mark.usefixtures("alerts")
def test_all_are_marked_as_read(signed_in: SignedIn, editor: User) -> None:
    browser = signed_in(editor)
    response = browser.post("/notifications/read/", follow=True)
    assert response.redirect_chain == [("/notifications/", 302)]
    page = text_of(response)
    assert "3 notifications marked as read." in page
    assert "Mark all as read" not in page


@pytest.mark.usefixtures("alerts")
def test_another_persons_is_not_there(signed_in: SignedIn, editor: User, owner: User, outsider: User) -> None:
    one = Notification.objects.filter(user=editor).earliest("created")
    for person in (owner, outsider):
        assert signed_in(person).get(f"/notifications/{one.id}/").status_code == 404
    assert "There are no notifications" in text_of(signed_in(outsider).get("/notifications/"))


def test_suggestions_and_decisions_are_told_with_names(
    signed_in: SignedIn, agent: Agent, team: Team, editor: User, owner: User
) -> None:
    told = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=600)).assembly
    for status in ("accepted", "dismissed"):
        found, _result = proposal_create(assembly=told, wishes=Overrides(max_tokens=900), principal=editor.principal)
        proposal_decide(proposal=found, status=status, principal=owner.principal)
    page = text_of(signed_in(editor).get("/notifications/"))
    assert "Olga Owner accepted your suggestion for Luna" in page
    assert "Olga Owner dismissed your suggestion for Luna" in page
    browser = signed_in(owner)
    assert "Edda suggests a change for Luna" in text_of(browser.get("/notifications/"))
    one = Notification.objects.filter(user=owner).latest("created", "id")
    assert browser.get(f"/notifications/{one.id}/")["Location"] == f"/proposals/{one.proposal_id}/"


def test_a_page_costs_the_same_however_many_there_are(
    signed_in: SignedIn, agent: Agent, team: Team, editor: User
) -> None:
    browser, counts = signed_in(editor), []
    for number in range(12):
        alert_notify(alert_on(agent, team, cause=str(number)))
        if number in {1, 11}:
            with CaptureQueriesContext(
                connection,
            ) as queries:
                browser.get("/notifications/")
            counts.append(len(queries))
    assert counts[0] == counts[1] <= 10


def test_older_ones_are_on_the_next_page(signed_in: SignedIn, agent: Agent, team: Team, editor: User) -> None:
    for number in range(51):
        alert_notify(alert_on(agent, team, cause=str(number)))
    browser = signed_in(editor)
    response = browser.get("/notifications/")
    assert len(response.context["rows"]) == 50
    assert len(browser.get(response.context["next"]).context["rows"]) == 1


@pytest.mark.parametrize("host", ["", "mail.example.org"])
def test_mail_is_chosen_in_the_settings(host: str, signed_in: SignedIn, editor: User, settings: Any) -> None:
    settings.EMAIL_HOST = host
    browser = signed_in(editor)
    page = text_of(browser.get("/accounts/settings/"))
    assert ("No mail server is configured yet" in page) == (not host)
    facts = {"name": "Edda", "email": "", "email_notifications": "on", "time_zone": "", "theme": ""}
    refused = browser.post("/accounts/settings/", facts)
    assert refused.status_code == 422
    assert "Enter the address to which notifications should be sent." in text_of(refused)
    assert browser.post("/accounts/settings/", {**facts, "email": "e@example.org"}).status_code == 302
    editor.refresh_from_db()
    assert (editor.email, editor.email_notifications) == ("e@example.org", True)
