"""These pages show an agent's task stacks as trees of goals, and push and pop goals."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.access import agent_for, is_permitted
from agents.models import Agent
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, NotFound
from memories.forms import GoalForm, ResultForm
from memories.models import Session, TaskFrame
from memories.search.task_tree import load_stacks
from memories.services.task_stack import task_peek, task_pop, task_push
from memories.views.agent_item import agent_crumbs
from teams.access import principal_of
from teams.principal import Action
from teams.versioned_text.presentation import Crumb

MAX_OWN_ROOTS = 10
ROOTS = {"limit": "25"}


def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the stacks as trees, the agent's own and then those of its sessions, or the one in the query string."""
    agent = agent_for(principal_of(request), slug)
    session = _find_session(agent, request.GET.get("session", ""))
    only_own = request.GET.get("stack") == "own"
    rows = TaskFrame.objects.filter(agent=agent, parent=None).select_related("session")
    paged = rows.filter(session=session) if session or only_own else rows.filter(session__isnull=False)
    roots, cursor = page_of(paged, {**ROOTS, **request.GET.dict()})
    shows_own = not (session or only_own or request.GET.get("cursor"))
    own = list(rows.filter(session=None).order_by("-created", "-id")[: MAX_OWN_ROOTS + 1]) if shows_own else []
    context = {
        **_page_context(request, agent),
        "stacks": load_stacks(agent, [*own[:MAX_OWN_ROOTS], *roots]),
        "session": session,
        "only_own": only_own,
        "more_own": len(own) > MAX_OWN_ROOTS,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/task_stack/tasks.html", context)


def push(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new goal below the current one, and push it."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    session = _find_session(agent, request.GET.get("session", ""))
    current = task_peek(agent=agent, session=session)
    form = GoalForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            task_push(agent=agent, session=session, goal=form.cleaned_data["goal"], principal=principal_of(request))
        except Conflict as error:
            form.add_error(None, error.detail)
        else:
            messages.success(request, _("The agent works on this task now."))
            return redirect(_stack_url(agent, session))
    return _render_form(request, agent, session, form, current)


def pop(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form for the result of the current goal, and complete the goal."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    session = _find_session(agent, request.GET.get("session", ""))
    current = task_peek(agent=agent, session=session)
    if current is None:
        raise Conflict(_("There is no current task to complete. Add a task first."))
    form = ResultForm(request.POST if request.method == "POST" else None, initial={"frame": current.id})
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["frame"] == current.id:
            task_pop(agent=agent, session=session, result=form.cleaned_data["result"], principal=principal_of(request))
            messages.success(request, _("Task completed. Its parent is the current task again."))
            return redirect(_stack_url(agent, session))
        form = _rebased_form(form, current)
    return _render_form(request, agent, session, form, current)


def _rebased_form(form: ResultForm, current: TaskFrame) -> ResultForm:
    """Return the form with what was typed, but for the goal that is current now."""
    moved = ResultForm({**form.cleaned_data, "frame": current.id}, initial={"frame": current.id})
    moved.add_error(None, _("The current task has changed meanwhile. Nothing was saved; review the task again."))
    return moved


def _find_session(agent: Agent, text: str) -> Session | None:
    """Return the session whose id is given; None for an empty id. Raises NotFound."""
    if not text:
        return None
    try:
        found = Session.objects.filter(agent=agent, id=UUID(text)).first()
    except ValueError:
        found = None
    if found is None:
        raise NotFound(_("This session"))
    return found


def _stack_url(agent: Agent, session: Session | None) -> str:
    address = reverse("tasks", args=[agent.slug])
    return f"{address}?session={session.pk}" if session else address


def _page_context(request: HttpRequest, agent: Agent) -> dict[str, Any]:
    return {
        "agent": agent,
        "may_write": is_permitted(principal_of(request), agent, Action.WRITE),
        "crumbs": agent_crumbs(agent),
    }


def _render_form(
    request: HttpRequest,
    agent: Agent,
    session: Session | None,
    form: GoalForm | ResultForm,
    current: TaskFrame | None,
) -> HttpResponse:
    tasks_crumb = Crumb(_("Tasks"), reverse("tasks", args=[agent.slug]))
    context = {
        **_page_context(request, agent),
        "crumbs": (*agent_crumbs(agent), tasks_crumb),
        "form": form,
        "session": session,
        "current": current,
        "back": _stack_url(agent, session),
    }
    return render(request, "memories/task_stack/form.html", context, status=422 if form.errors else 200)
