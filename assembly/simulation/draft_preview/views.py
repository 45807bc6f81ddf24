"""The pages of draft previews: the panel beside the editor, the page for all agents, and the size of a text."""

import datetime
import hashlib
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from agents.models import Agent
from assembly.comparison.presentation import section_diff_rows
from assembly.comparison.side_by_side import SideBySide
from assembly.profiles.catalogue import find_profile
from assembly.profiles.shipped import CONVERSATION
from assembly.simulation.draft_preview.forms import DraftPreviewForm
from assembly.simulation.draft_preview.presentation import (
    preview_headline,
    preview_item_lists,
    preview_tone,
    preview_warnings,
    unused_text_note,
)
from assembly.simulation.draft_preview.services import preview_drafts, preview_drafts_by_agent
from assembly.simulation.draft_preview.subject import (
    DraftPreviewOptions,
    DraftSubject,
    DraftText,
    agent_file_subject,
    daily_log_subject,
    default_options,
    draft_preview_form,
    load_draft_text,
    options_of,
    organisation_file_subject,
    store_topic,
    team_file_subject,
)
from assembly.templatetags.contexts import size_panel
from config.http.errors import Invalid, NotFound
from teams.access import principal_of
from teams.text_diff.comparison import compare_texts
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS


def draft_preview_panel(request: HttpRequest, subject: DraftSubject, written: DraftText) -> HttpResponse:
    """Return the panel. Nothing is assembled without a draft, or an agent that reads the text.

    The page sends the sentence that it showed last, so that an unchanged one is not announced again.
    """
    page = {"subject": subject, "written": written}
    if written.origin != "draft" or not subject.agents:
        return render(request, "assembly/simulation/draft_preview/_panel.html", page)
    wish = default_options(request, subject)
    try:
        found = preview_drafts(
            agent=subject.agents[0], team=wish.team, asked=wish.asked, texts={subject.file.about: written.text}
        )
    except Invalid as refused:
        return render(request, "assembly/simulation/draft_preview/_panel.html", {**page, "refused": refused.detail})
    rows, told = section_diff_rows(found), preview_headline(found)
    said = hashlib.sha256(told.encode()).hexdigest()[:16]
    page |= {
        "wish": wish,
        "headline": told,
        "tone": preview_tone(found),
        "rows": [row for row in rows if not row.is_same],
        "same": sum(row.is_same for row in rows),
        "unused": unused_text_note(found, subject.file),
        "said": said,
        "is_news": said != request.GET.get("said"),
    }
    return render(request, "assembly/simulation/draft_preview/_panel.html", page)


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The change of the context of one of several agents."""

    agent: Agent
    headline: str
    tone: str
    before: int
    after: int


def team_file(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Preview a team's file, for one of the agents that read it, or for all."""
    return _preview_page(request, team_file_subject(principal_of(request), slug, key))


def organisation_file(request: HttpRequest, key: str) -> HttpResponse:
    """Preview a file of the organisation, for one agent or for all."""
    return _preview_page(request, organisation_file_subject(principal_of(request), key))


def agent_file(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Preview an agent's file."""
    return _preview_page(request, agent_file_subject(principal_of(request), slug, key))


def daily_log(request: HttpRequest, slug: str, date: datetime.date) -> HttpResponse:
    """Preview the log of an agent's day."""
    return _preview_page(request, daily_log_subject(principal_of(request), slug, date))


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def _preview_page(request: HttpRequest, subject: DraftSubject) -> HttpResponse:
    written = load_draft_text(request, subject)
    if request.method == "GET" and request.headers.get("HX-Request"):
        return draft_preview_panel(request, subject, written)
    form = draft_preview_form(request, subject)
    faulty = bool(written.fault or (subject.agents and form.errors))
    if faulty or not subject.agents:
        return _page(request, subject, written, form, status=422 if faulty else 200)
    wish = options_of(form, subject) if form.is_bound else default_options(request, subject)
    store_topic(request, wish.asked.topic)
    try:
        found = _preview_for_agent(subject, written, wish)
    except Invalid as refused:
        return _page(request, subject, written, form, status=422, refused=refused.detail)
    return _page(request, subject, written, form, wish=wish, **found)


def _page(
    request: HttpRequest,
    subject: DraftSubject,
    written: DraftText,
    form: DraftPreviewForm,
    status: int = 200,
    **facts: Any,
) -> HttpResponse:
    page = {"subject": subject, "written": written, "form": form, **facts}
    return render(request, "assembly/simulation/draft_preview/draft_preview.html", page, status=status)


def _preview_for_agent(subject: DraftSubject, written: DraftText, wish: DraftPreviewOptions) -> dict[str, Any]:
    texts = {subject.file.about: written.text}
    if wish.agent:
        return {
            "seen": _preview_context(
                subject, preview_drafts(agent=wish.agent, team=wish.team, asked=wish.asked, texts=texts)
            )
        }
    previews = preview_drafts_by_agent(agents=subject.agents, team_of=subject.team_of, asked=wish.asked, texts=texts)
    rows = [_agent_row(subject, agent, found) for agent, found in previews]
    return {"rows": rows, "not_looked_at": len(subject.agents) - len(rows)}


def _preview_context(subject: DraftSubject, found: SideBySide) -> dict[str, Any]:
    """Return a preview in the words of its page."""
    return {
        "trial": found,
        "headline": preview_headline(found),
        "tone": preview_tone(found),
        "rows": section_diff_rows(found),
        "lists": preview_item_lists(found),
        "troubles": [note for note in (unused_text_note(found, subject.file), *preview_warnings(found)) if note],
        "difference": compare_texts(found.before.content, found.after.content, source=True),
    }


def _agent_row(subject: DraftSubject, agent: Agent, found: SideBySide) -> AgentRow:
    headline = unused_text_note(found, subject.file) or preview_headline(found)
    return AgentRow(agent, headline, preview_tone(found), found.before.tokens, found.after.tokens)


@require_POST
def size(request: HttpRequest, key: str) -> HttpResponse:
    """Show the size panel of the editor for the text in the form, measured against `?profile=`; nothing is stored."""
    text = request.POST.get("content", "")[: MAX_FILE_CHARACTERS + 1].replace("\r\n", "\n")
    name = request.GET.get("profile") or CONVERSATION.name
    if not name.isprintable():
        raise NotFound
    try:
        profile = find_profile(name)
        return render(request, "assembly/simulation/draft_preview/_size.html", size_panel(text, key, profile))
    except StopIteration:
        raise NotFound from None
