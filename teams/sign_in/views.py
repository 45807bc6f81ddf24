"""This page shows where a person is signed in, and signs other browsers out."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from config.http.errors import NotFound
from teams.models import User
from teams.sign_in.browser_sessions import current_digest, other_sessions_end, present_sessions, session_end


@require_safe
def browser_sessions(request: HttpRequest) -> HttpResponse:
    """Show all browsers in which the person is signed in."""
    shown = present_sessions(cast("User", request.user), current_digest(request))
    return render(request, "teams/sign_in/browser_sessions.html", {"shown": shown, "others": len(shown) - 1})


@require_POST
def browser_session_end(request: HttpRequest, id_: UUID) -> HttpResponse:
    """End a session of the person. For the current session, this signs the person out."""
    person = cast("User", request.user)
    if not session_end(person=person, id_=id_):
        raise NotFound("This session")
    if not request.session.exists(request.session.session_key or ""):
        logout(request)
        return redirect("account_login")
    messages.success(request, _("Session signed out."))
    return redirect("browser_sessions")


@require_POST
def other_browser_sessions_end(request: HttpRequest) -> HttpResponse:
    """End all sessions of the person except the current one."""
    ended = other_sessions_end(request)
    said = ngettext("Signed out in %(n)s other session.", "Signed out in %(n)s other sessions.", ended)
    messages.success(request, said % {"n": ended})
    return redirect("browser_sessions")
