"""These are the tabs of one context: summary, text, rules and sources, and its record as JSON."""

import json
from typing import Any
from uuid import UUID

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from rest_framework.utils.encoders import JSONEncoder

from assembly.access import assembly_for
from assembly.contexts import items, layers
from assembly.contexts.documents import assembly_document, decision_document
from assembly.contexts.exact_text import text_excerpt
from assembly.contexts.feedback_presentation import feedback_rows
from assembly.contexts.forms import FeedbackForm
from assembly.contexts.items import empty_positions, included_positions, left_out_positions, truncated_positions
from assembly.contexts.layers import fired_rule_rows, source_rows, timeline_length_ms
from assembly.contexts.page import OUT_SHOWN, head_facts, load_context_page, record_for
from assembly.contexts.quality_rows import quality_rows
from assembly.contexts.recorded_cost import cost_document
from assembly.contexts.second_round_account import second_round_row
from assembly.models import AssemblyFlag
from assembly.models.encryption import RecordErased
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.records.feedback import feedback_create, may_give_feedback
from assembly.records.reader import StoredAssembly, content_of
from assembly.records.reader import replay as replay_of
from assembly.records.retention_policies import may_flag
from assembly.records.warnings import flagged_conflicts
from assembly.sources.withheld import withheld_count
from config.http.errors import Conflict, Invalid, NotFound
from config.http.late_reads import may_be_late
from config.http.selection import FIELD, redirect_to_list
from config.http.serializers import OPTIONS
from teams.access import principal_of
from teams.activity.log import export_record

MOST_DIGITS = 9


@may_be_late
def context(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the summary of a context: request, warnings, token usage, feedback, and the first truncated or excluded
    items.
    """
    return _render_summary(request, id_, FeedbackForm())


@require_POST
def feedback(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Store feedback on a context; with a `verdict`, on the items that were selected in its list."""
    principal = principal_of(request)
    assembly = assembly_for(principal, id_)
    form = FeedbackForm(request.POST)
    of_items = "verdict" in request.POST
    if form.is_valid():
        try:
            facts = form.facts(request.POST.getlist(FIELD))
            feedback_create(assembly=assembly, facts=facts, principal=principal)
        except (Invalid, Conflict) as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(request, _("Your feedback is stored with the context."))
    if form.errors and not of_items:
        return _render_summary(request, id_, form, status=422)
    for errors in form.errors.values():
        messages.error(request, " ".join(map(str, errors)))
    return redirect_to_list(request, "context_items", str(id_)) if of_items else redirect("context", id_=id_)


def _render_summary(request: HttpRequest, id_: UUID, form: FeedbackForm, status: int = 200) -> HttpResponse:
    page = load_context_page(request, id_)
    assembly, told = page.assembly, page.told
    rows = layers.layer_rows(assembly, told.decisions)
    cut, out = truncated_positions(told), left_out_positions(told)
    facts = {
        **head_facts(page),
        "layers": rows,
        "bar": layers.budget_bar_segments(assembly, rows),
        "unused": layers.unused_tokens(assembly),
        "over": max(0, assembly.tokens - assembly.budget),
        "considered": len(told.decisions),
        "included_count": len(included_positions(told)),
        "left_out": page.listed([*cut, *out][:OUT_SHOWN]),
        "truncated_count": len(cut),
        "left_out_count": len(out),
        "empty": [page.items.title(position) for position in empty_positions(told)],
        "warnings": items.warnings(assembly),
        "flagged": [one.id for one in flagged_conflicts(told)],
        "quality": [] if page.content is None else quality_rows(told, page.content),
        "is_damaged": page.content is None and not told.erasure_sentence,
        "feedback": feedback_rows(told, page.items),
        "may_give_feedback": may_give_feedback(principal_of(request), assembly),
        "form": form,
        "flag": AssemblyFlag.objects.filter(assembly=assembly).first(),
        "may_flag": may_flag(principal_of(request), assembly),
    }
    return render(request, "assembly/contexts/context.html", facts, status=status)


@may_be_late
def rules_and_sources(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show which rules matched in a context, and how long each source took."""
    page = load_context_page(request, id_)
    facts = {
        **head_facts(page),
        "rules": fired_rule_rows(principal_of(request), page.assembly),
        "sources": source_rows(page.assembly),
        "longest_ms": timeline_length_ms(page.assembly),
        "withheld": withheld_count(page.assembly.sources),
        "cost": cost_document(page.assembly),
        "second_round": second_round_row(page.assembly),
    }
    return render(request, "assembly/contexts/rules_and_sources.html", facts)


@require_POST
def replay(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Replay the context from its record and show whether the text is identical, byte for byte."""
    told = record_for(principal_of(request), id_)
    result, erased = None, ""
    try:
        result = replay_of(told)
    except RecordErased as error:
        erased = error.detail
    if request.headers.get("HX-Request"):
        return render(request, "assembly/contexts/_replay_result.html", {"result": result, "erased": erased})
    if not result:
        messages.warning(request, erased)
    elif result.identical:
        said = _("✓ Verified: identical. SHA-256 %(hash)s")
        messages.success(request, said % {"hash": result.sha256})
    else:
        messages.error(request, _("✗ Integrity check failed. Contact your administrator."))
    return redirect("context", id_=told.assembly.id)


def download(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Return the exact text of a context as a Markdown file."""
    principal = principal_of(request)
    told = record_for(principal, id_)
    name = f"{told.assembly.agent_slug}-{told.assembly.created:%Y-%m-%d-%H%M%S}.md"
    export_record(principal, name, team_ids=[told.assembly.team_id])
    return HttpResponse(
        content_of(told).encode(),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@may_be_late
def exact(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the exact text of a context from the character `begin` on.

    With htmx, an excerpt after the first is rendered alone. Raises NotFound for a `begin` beyond the end of the text.
    """
    page = load_context_page(request, id_)
    if page.content is None:
        return redirect("context", id_=id_)  # the summary says that the record was changed, or texts of it erased
    begin = excerpt_start(request, len(page.content))
    shown = text_excerpt(page.assembly.sections, page.told.decisions, page.content, begin)
    facts = {
        **head_facts(page),
        "stretch": shown,
        "pieces": page.linked(shown),
        "characters": len(page.content),
    }
    part = request.headers.get("HX-Request") and begin
    return render(request, "assembly/contexts/_more_text.html" if part else "assembly/contexts/exact_text.html", facts)


def excerpt_start(request: HttpRequest, characters: int) -> int:
    """Return the excerpt's first character: the query's `begin`, 0 by default. Raises NotFound outside the text."""
    asked = request.GET.get("begin", "0")
    begin = int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS else -1
    if begin and not 0 <= begin < characters:
        raise NotFound("This place of the text")
    return begin


MAX_SHOWN_CHARACTERS = 60_000  # most characters of the record that its page shows


@may_be_late
def record(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the record of a context as indented JSON; at most the first 60,000 characters."""
    page = load_context_page(request, id_)
    text = pretty_json(load_document(page.told))
    facts = {
        **head_facts(page),
        "text": text[:MAX_SHOWN_CHARACTERS],
        "characters": len(text),
        "more": max(0, len(text) - MAX_SHOWN_CHARACTERS),
        "decisions": len(page.told.decisions),
    }
    return render(request, "assembly/contexts/record.html", facts)


def record_file(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Return the record of a context as an indented JSON file."""
    principal = principal_of(request)
    told = record_for(principal, id_)
    name = f"{told.assembly.agent_slug}-{told.assembly.created:%Y-%m-%d-%H%M%S}.json"
    export_record(principal, name, team_ids=[told.assembly.team_id])
    return HttpResponse(
        pretty_json(load_document(told)).encode(),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def load_document(told: StoredAssembly) -> dict[str, Any]:
    """Return the assembly as the API returns it, with all its decisions. Raises RecordDamaged."""
    sections = {section.key: section for section in told.inputs.profile.sections}
    decisions = [
        decision_document(one, place, sections[one.section], item) for place, (one, item) in enumerate(told.decided)
    ]
    return {
        **assembly_document(AssemblyResult(told.assembly, content_of(told), told.decisions)),
        "decisions": decisions,
    }


def pretty_json(document: dict[str, Any]) -> str:
    """Return the document as indented JSON, with each value encoded as in the API."""
    try:
        return orjson.dumps(document, default=JSONEncoder().default, option=OPTIONS | orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:  # orjson refuses integers beyond 64 bits
        return json.dumps(document, cls=JSONEncoder, indent=2, ensure_ascii=False)
