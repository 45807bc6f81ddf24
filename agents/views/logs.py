"""The pages of an agent's daily logs: one page per day, whether or not the day has a log."""

import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.access import agent_for, is_permitted
from agents.guidance import DAILY_LOG
from agents.log_calendar import adjacent_days, load_week
from agents.models import Agent, DailyLog
from agents.services import daily_log_create
from config.http.errors import Forbidden, NotFound
from config.http.etags import PreconditionFailed
from teams.access import principal_of
from teams.principal import Action
from teams.text_diff.markdown import render_markdown
from teams.versioned_text import views as document_history
from teams.versioned_text import views as versioned_text_views
from teams.versioned_text.editor import views as editor_views
from teams.versioned_text.presentation import Crumb, SaveText, TextPage, save_as_person
from teams.versioned_text.versioned_file import StaleVersion, file_save


def read(request: HttpRequest, slug: str, date: datetime.date) -> HttpResponse:
    """Show the day's log."""
    agent = agent_for(principal_of(request), slug)
    found = _document(agent, date, may_edit=is_permitted(principal_of(request), agent, Action.WRITE))
    today = agent.today(timezone.now())
    before, after = adjacent_days(date, today)
    context = {
        "document": found,
        "agent": agent,
        "date": date,
        "html": render_markdown(found.file.content),
        "week": load_week(agent, date),
        "before": before,
        "after": after,
        "is_today": date == today,
    }
    return render(request, "agents/log.html", context)


def edit(request: HttpRequest, slug: str, date: datetime.date) -> HttpResponse:
    """Show the editor of the day's log; publishing the first text creates the log."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    found = _document(agent, date, may_edit=True)
    return editor_views.edit(request, found, _publisher(request, agent, found))


def history(request: HttpRequest, slug: str, date: datetime.date) -> HttpResponse:
    """Show all versions of the day's log."""
    return document_history.history(request, _existing(request, slug, date, Action.READ))


def version(request: HttpRequest, slug: str, date: datetime.date, number: int) -> HttpResponse:
    """Show a version of the day's log."""
    return document_history.version(request, _existing(request, slug, date, Action.READ), number)


def compare(request: HttpRequest, slug: str, date: datetime.date) -> HttpResponse:
    """Show the difference of two versions of the day's log, or of a version and the draft."""
    return versioned_text_views.compare(request, _existing(request, slug, date, Action.READ))


@require_POST
def restore(request: HttpRequest, slug: str, date: datetime.date, number: int) -> HttpResponse:
    """Restore an old version of the day's log."""
    found = _existing(request, slug, date, Action.WRITE)
    return versioned_text_views.restore(request, found, number, save_as_person(request, file_save, found.file))


def _publisher(request: HttpRequest, agent: Agent, found: TextPage) -> SaveText:
    if found.exists:
        return save_as_person(request, file_save, found.file)

    def create(content: str, expected: int, note: str) -> DailyLog:
        date = found.file.date  # type: ignore[attr-defined]
        try:
            return daily_log_create(agent=agent, date=date, content=content, principal=principal_of(request), note=note)
        except PreconditionFailed:  # an agent or a colleague began the day's log meanwhile
            if log := DailyLog.objects.filter(agent=agent, date=date).first():
                raise StaleVersion(log, expected) from None
            raise Forbidden("The log of this day is above your clearance. Nothing was saved.") from None

    return create


def _existing(request: HttpRequest, slug: str, date: datetime.date, action: Action) -> TextPage:
    principal = principal_of(request)
    agent = agent_for(principal, slug, action)
    found = _document(agent, date, may_edit=is_permitted(principal, agent, Action.WRITE))
    if not found.exists:
        raise NotFound(_("Daily log"))
    return found


def _document(agent: Agent, date: datetime.date, *, may_edit: bool) -> TextPage:
    address = reverse("daily_log", args=[agent.slug, date])
    log = DailyLog.objects.filter(agent=agent, date=date).first()
    day = date_format(date, "l, j F Y")
    return TextPage(
        file=log or DailyLog(agent=agent, date=date, version=0),
        guidance=DAILY_LOG,
        key="RECENT_ACTIVITY",
        heading=_("Log of %(name)s, %(day)s") % {"name": agent.name, "day": day},
        crumbs=(
            Crumb(_("Agents"), reverse("agent_list")),
            Crumb(agent.name, reverse("agent_page", args=[agent.slug])),
            Crumb(day, address),
        ),
        readers=_("Used by %(name)s for 7 days.") % {"name": agent.name},
        edit_address=f"{address}edit/",
        history_address=f"{address}history/",
        may_edit=may_edit,
    )
