"""Notifications reach the people who can act, once, and only while they may read what they are about."""

import smtplib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_create
from assembly.models import Alert, Assembly, Notification, NotificationKind, Proposal
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.notifications import services
from assembly.notifications.services import (
    MAIL,
    RETRY_PAUSE,
    alert_notify,
    mail_run,
    notification_read,
    notifications_read_all,
    recount_unread,
)
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.simulation.proposals.services import proposal_create, proposal_decide
from assembly.simulation.simulate import Overrides
from memories.jobs.services import RetryLater
from memories.models import Job
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.services import membership_remove
from tests.assembly.conftest import write
from tests.assembly.monitoring.alerts.alert_factories import alert_on

pytestmark = pytest.mark.django_db
ADDRESS = "https://dossier.example.org"


@pytest.fixture
def mail_server(settings: Any) -> None:
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example.org", ADDRESS
    settings.DEFAULT_FROM_EMAIL = "dossier@example.org"


@pytest.fixture
def told(agent: Agent, team: Team) -> Assembly:
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=600)).assembly


def suggestion(told: Assembly, principal: Principal) -> Proposal:
    return proposal_create(assembly=told, wishes=Overrides(max_tokens=900), principal=principal)[0]


def notified() -> set[tuple[str, str]]:
    """Who was notified, and of what kind."""
    return set(Notification.objects.values_list("user__username", "kind"))


def unread(person: User) -> int:
    return User.objects.get(id=person.id).unread_notifications


def jobs() -> Iterator[Job]:
    return Job.objects.filter(kind=MAIL).iterator()


def run(job: Job) -> None:
    mail_run(job, lambda _steps: None)


def wants_mail(person: User, **facts: Any) -> User:
    person.email, person.email_notifications = f"{person.username}@example.org", True
    for name, value in facts.items():
        setattr(person, name, value)
    person.save()
    return person


def test_a_truncated_file_notifies_those_who_can_edit_it_once(agent: Agent, team: Team, teammate: User) -> None:
    write(agent, "KNOWLEDGE", "\n\n".join(f"Fact {number} of many." for number in range(900)))
    asked = AssemblyRequest(max_tokens=900)
    made = [assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly for _ in range(2)]
    follow_assemblies(made)
    opened = NotificationKind.ALERT_OPENED
    assert notified() == {("owner", opened), ("editor", opened)}
    assert Alert.objects.filter(kind="file_cut").count() == 1
    assert Notification.objects.count() == 2 * Alert.objects.count()
    assert unread(teammate) == 0


def test_without_a_team_it_is_for_the_teams_of_the_agent_and_without_any_for_admins(
    agent: Agent, owner: User, admin: User, outsider: User
) -> None:
    alert_notify(alert_on(agent))
    assert {name for name, _kind in notified()} == {"owner", "editor"}
    Notification.objects.all().delete()
    alert_notify(alert_on(agent_create(slug="lone", name="Lone", teams=[])))
    assert {name for name, _kind in notified()} == {"admin"}


def test_people_who_are_inactive_are_not_notified(agent: Agent, team: Team, owner: User) -> None:
    User.objects.filter(id=owner.id).update(is_active=False)
    alert_notify(alert_on(agent, team))
    assert {name for name, _kind in notified()} == {"editor"}


def test_a_suggestion_notifies_who_may_decide_and_its_author_of_the_decision(
    told: Assembly, editor: User, owner: User
) -> None:
    proposal = suggestion(told, editor.principal)
    assert notified() == {("owner", NotificationKind.SUGGESTION_CREATED)}
    proposal_decide(proposal=proposal, status="accepted", principal=owner.principal)
    assert notified() == {
        ("owner", NotificationKind.SUGGESTION_CREATED), ("editor", NotificationKind.SUGGESTION_DECIDED),
    }  # fmt: skip
    proposal.delete()
    assert notified() == set()


def test_nobody_is_notified_of_what_they_did_themselves(told: Assembly, owner: User) -> None:
    proposal = suggestion(told, owner.principal)
    proposal_decide(proposal=proposal, status="dismissed", principal=owner.principal)
    assert notified() == set()


def test_the_number_of_unread_ones_follows_what_is_read_and_may_be_read(agent: Agent, team: Team, editor: User) -> None:
    for number in range(3):
        alert_notify(alert_on(agent, team, cause=str(number)))
    assert unread(editor) == 3
    first = Notification.objects.select_related("user").filter(user=editor).earliest("created")
    for _ in range(2):
        notification_read(first)
    assert unread(editor) == 2
    membership_remove(team=team, user=editor)
    recount_unread(editor)
    assert unread(editor) == 0
    assert Notification.objects.readable_by(editor.principal).count() == 0


def test_all_are_marked_as_read_of_one_person_alone(agent: Agent, team: Team, editor: User, owner: User) -> None:
    for number in range(3):
        alert_notify(alert_on(agent, team, cause=str(number)))
    assert notifications_read_all(editor) == 3
    assert notifications_read_all(editor) == 0
    assert (unread(editor), unread(owner)) == (0, 3)


def test_old_ones_are_deleted_as_new_ones_come(agent: Agent, team: Team, editor: User) -> None:
    alert_notify(alert_on(agent, team, cause="1"))
    Notification.objects.update(created=timezone.now() - timedelta(days=91))
    alert_notify(alert_on(agent, team, cause="2"))
    assert Notification.objects.filter(user=editor).count() == 1


@pytest.mark.usefixtures("mail_server")
def test_who_wants_mail_gets_one_message_for_many(agent: Agent, team: Team, editor: User, owner: User) -> None:
    wants_mail(editor)
    for number in range(25):
        alert_notify(alert_on(agent, team, cause=str(number)))
    for job in jobs():
        run(job)
    [message] = mail.outbox
    assert message.to == ["editor@example.org"]
    assert message.subject == "Dossier: 25 notifications"
    assert message.body.count("Ada: Knowledge truncated.") == 20
    newest = Notification.objects.filter(user=editor).latest("created", "id")
    assert f"{ADDRESS}/notifications/{newest.id}/" in message.body
    assert f"And 5 more: {ADDRESS}/notifications/" in message.body
    assert f"{ADDRESS}/accounts/settings/" in message.body


@pytest.mark.usefixtures("mail_server")
@pytest.mark.parametrize("facts", [{"email": ""}, {"email_notifications": False}, {"is_active": False}])
def test_who_does_not_want_mail_gets_none(facts: dict[str, Any], agent: Agent, team: Team, editor: User) -> None:
    wants_mail(editor)
    alert_notify(alert_on(agent, team))
    wants_mail(editor, **facts)
    for job in jobs():
        run(job)
    alert_notify(alert_on(agent, team, cause="8"))
    assert mail.outbox == []
    assert Job.objects.filter(kind=MAIL).count() == 1


@pytest.mark.usefixtures("mail_server")
def test_what_was_read_or_may_no_longer_be_read_is_not_mailed(
    agent: Agent, team: Team, editor: User, owner: User
) -> None:
    for person in (editor, owner):
        wants_mail(person)
    alert_notify(alert_on(agent, team))
    notifications_read_all(owner)
    membership_remove(team=team, user=editor)
    for job in jobs():
        run(job)
    assert mail.outbox == []


@pytest.mark.usefixtures("mail_server")
def test_what_a_server_refuses_is_sent_later(
    agent: Agent, team: Team, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> int:
        raise smtplib.SMTPServerDisconnected

    wants_mail(editor)
    alert_notify(alert_on(agent, team))
    [job] = jobs()
    with monkeypatch.context() as patch:
        patch.setattr(services, "send_mail", refuse)
        with pytest.raises(RetryLater, match="did not take the message") as later:
            run(job)
    assert later.value.pause == RETRY_PAUSE
    run(job)
    assert [message.subject for message in mail.outbox] == ["Dossier: Ada: Knowledge truncated"]


def test_without_a_mail_server_no_mail_is_queued(agent: Agent, team: Team, editor: User) -> None:
    wants_mail(editor)
    alert_notify(alert_on(agent, team))
    assert not Job.objects.filter(kind=MAIL).exists()
