"""The page of notifications: what concerns the person, newest first, with what is unread."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from assembly.models import Notification
from assembly.notifications.sentences import notification_address, notification_sentence
from assembly.notifications.services import notification_read, notifications_read_all, recount_unread
from config.http.cursors import next_page_url, page_of
from teams.models import User


@require_safe
def notification_list(request: HttpRequest) -> HttpResponse:
    """Show the person's notifications about what the person may read, newest first."""
    person = cast("User", request.user)
    recount_unread(person)
    readable = Notification.objects.readable_by(person.principal).select_related("alert", "proposal")
    found, cursor = page_of(readable, request.GET)
    facts = {
        "rows": [{"notification": one, "sentence": notification_sentence(one)} for one in found],
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/notifications/list.html", facts)


@require_safe
def notification(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Mark a notification as read, and go to the page of what it is about."""
    person = cast("User", request.user)
    readable = Notification.objects.readable_by(person.principal).select_related("alert", "proposal", "user")
    found = readable.filter(id=id_).first()
    if found is None:
        raise Http404
    notification_read(found)
    return redirect(notification_address(found))


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Mark all notifications of the person as read."""
    marked = notifications_read_all(cast("User", request.user))
    told = ngettext("%(n)s notification marked as read.", "%(n)s notifications marked as read.", marked)
    messages.success(request, told % {"n": marked})
    return redirect("notification_list")
