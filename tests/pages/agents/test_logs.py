"""Daily logs: read, begun, corrected, and begun by two at once."""

import datetime

from agents.models import Agent, DailyLog
from agents.services import daily_log_append
from teams.models import User
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import publish

DAY = datetime.date(2026, 3, 1)
LOG = "/agents/luna/logs/2026-03-01/"


def test_an_empty_day_invites_to_write(signed_in: SignedIn, editor: User, teammate: User, agent: Agent) -> None:
    assert "Write log" in text_of(signed_in(editor).get(LOG))
    assert "Write log" not in text_of(signed_in(teammate).get(LOG))


def test_the_first_save_begins_the_log(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    response = publish(signed_in(editor), "Met Mara.", version=0, address=f"{LOG}edit/")
    assert "Published version 1." in text_of(response)
    assert DailyLog.objects.get(agent=agent, date=DAY).content == "Met Mara."


def test_a_log_that_the_agent_began_meanwhile_is_shown(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    browser = signed_in(editor)
    daily_log_append(agent=agent, date=DAY, text="By Luna.", principal=editor.principal)
    response = browser.post(f"{LOG}edit/", {"deed": "review", "version": 0, "content": "By me."})
    assert response.status_code == 412
    assert "By Luna." in text_of(response)
    assert ">\nBy me.</textarea>" in text_of(response)


def test_readers_cannot_write_a_log(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    assert signed_in(teammate).post(f"{LOG}edit/", {"version": 0, "content": "x"}).status_code == 403
    assert not DailyLog.objects.exists()


def test_days_lead_to_each_other(signed_in: SignedIn, teammate: User, editor: User, agent: Agent) -> None:
    for day in (27, 28):
        daily_log_append(agent=agent, date=datetime.date(2026, 2, day), text="x", principal=editor.principal)
    assert "/agents/luna/logs/2026-02-28/" in text_of(signed_in(teammate).get(LOG))


def test_the_field_for_a_date_leads_to_the_day(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    browser = signed_in(teammate)
    assert browser.get("/agents/luna/logs/?date=2026-03-01")["Location"] == LOG
    assert browser.get("/agents/luna/logs/?date=nonsense").status_code == 200
