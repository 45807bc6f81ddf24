"""One context: what the agent was told, what was left out, and why; replayed and downloaded."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.models import AssemblyFlag
from assembly.replay import content_of
from assembly.replay import replay as replay_of
from assembly.retention.flags import may_flag
from assembly.views import explanation, layers
from assembly.views.context_items import filter_form, following
from assembly.views.context_page import page_of_context, told_for
from assembly.views.exact_text import stretch
from assembly.views.fired_rules import fired_rules
from assembly.views.items import empty, included, left_out
from assembly.views.places import IN_SHOWN, OUT_SHOWN
from assembly.views.waterfall import longest_of, source_rows
from teams.views.asking import asking


def context(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The whole record in plain words."""
    page = page_of_context(request, id_)
    assembly, told = page.assembly, page.told
    rows = layers.layer_rows(assembly, told.decisions)
    is_in, out = included(told), left_out(told)
    in_shown, out_shown = is_in[:IN_SHOWN], out[:OUT_SHOWN]
    listed = page.listed([*in_shown, *out_shown])
    shown = None if page.content is None else stretch(assembly.sections, told.decisions, page.content)
    facts = {
        "assembly": assembly,
        "agent_slug": page.whereabouts.agent,
        "team_slug": page.whereabouts.team,
        "headline": explanation.headline(assembly, told.decisions),
        "layers": rows,
        "bar": layers.bar(assembly, rows),
        "unused": layers.free_of(assembly),
        "over": max(0, assembly.tokens - assembly.budget),
        "form": filter_form(told, {}),
        "considered": len(told.decisions),
        "included": listed[: len(in_shown)],
        "included_count": len(is_in),
        "included_next": following(page, "in", IN_SHOWN, len(is_in)),
        "left_out": listed[len(in_shown) :],
        "left_out_count": len(out),
        "left_out_next": following(page, "out", OUT_SHOWN, len(out)),
        "empty": [page.items.title(position) for position in empty(told)],
        "rules": fired_rules(asking(request), assembly),
        "sources": source_rows(assembly),
        "longest_ms": longest_of(assembly),
        "warnings": explanation.warnings(assembly),
        "stretch": shown,
        "pieces": page.linked(shown) if shown else None,
        "flag": AssemblyFlag.objects.filter(assembly=assembly).first(),
        "may_flag": may_flag(asking(request), assembly),
    }
    return render(request, "assembly/context.html", facts)


@require_POST
def replay(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Assemble again from the record alone, and say whether the bytes are the same."""
    told = told_for(asking(request), id_)
    result = replay_of(told)
    if request.headers.get("HX-Request"):
        return render(request, "assembly/_replay.html", {"result": result})
    if result.identical:
        said = _("✓ Replayed from the record: every byte matches. SHA-256 %(hash)s")
        messages.success(request, said % {"hash": result.sha256})
    else:
        messages.error(request, _("✗ The record gives another text now. Tell your admin: somebody changed it."))
    return redirect("context", id_=told.assembly.id)


def download(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The exact text as a file."""
    told = told_for(asking(request), id_)
    name = f"{told.assembly.agent_slug}-{told.assembly.created:%Y-%m-%d-%H%M%S}.md"
    return HttpResponse(
        content_of(told).encode(),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
