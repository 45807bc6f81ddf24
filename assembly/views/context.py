"""One context: what the agent was told, what was left out, and why; replayed and downloaded."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.models import Agent
from assembly.access import assembly_for
from assembly.models import Assembly
from assembly.recorded import Recorded, recorded
from assembly.replay import RecordDamaged, content_of
from assembly.replay import replay as replay_of
from assembly.views import explanation
from assembly.views.exact_text import Piece, pieces
from assembly.views.waterfall import source_rows
from teams.models import Team
from teams.views.asking import asking


def context(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The whole record in plain words."""
    assembly = assembly_for(asking(request), id_)
    told = recorded(assembly)
    decisions = told.decisions
    agent, team = _slugs(request, assembly)
    items = explanation.with_addresses(explanation.items(told), agent, team)
    rows = explanation.section_rows(assembly, decisions)
    facts = {
        "assembly": assembly,
        "agent_slug": agent,
        "team_slug": team,
        "headline": explanation.headline(assembly, decisions),
        "rows": rows,
        "bar": explanation.bar(assembly, rows),
        "unused": max(0, assembly.budget - assembly.tokens),
        "over": max(0, assembly.tokens - assembly.budget),
        "included": sorted(
            (item for item in items if item.decision.included), key=lambda item: item.decision.start or 0
        ),
        "left_out": [item for item in items if explanation.is_left_out(item.decision)],
        "empty": [item for item in items if item.decision.code == "empty"],
        "sources": source_rows(assembly),
        "warnings": explanation.warnings(assembly),
        "pieces": _pieces(told),
    }
    return render(request, "assembly/context.html", facts)


@require_POST
def replay(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Assemble again from the record alone, and say whether the bytes are the same."""
    assembly = assembly_for(asking(request), id_)
    result = replay_of(recorded(assembly))
    if request.headers.get("HX-Request"):
        return render(request, "assembly/_replay.html", {"result": result})
    if result.identical:
        messages.success(request, _("✓ Replayed from the record: every byte matches."))
    else:
        messages.error(request, _("✗ The record gives another text now. Tell your admin: somebody changed it."))
    return redirect("context", id_=assembly.id)


def download(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The exact text as a file."""
    assembly = assembly_for(asking(request), id_)
    name = f"{assembly.agent_slug}-{assembly.created:%Y-%m-%d-%H%M%S}.md"
    return HttpResponse(
        content_of(recorded(assembly)).encode(),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _pieces(told: Recorded) -> list[Piece] | None:
    """The exact text; None when the record does not give it any more, which the page then says."""
    try:
        return pieces(told.assembly, told.decisions, content_of(told))
    except RecordDamaged:
        return None


def _slugs(request: HttpRequest, assembly: Assembly) -> tuple[str, str]:
    """Where the agent and the team are found today; empty for what was deleted."""
    principal = asking(request)
    agent = Agent.objects.visible_to(principal).filter(id=assembly.agent_id).values_list("slug", flat=True).first()
    teams = Team.objects.visible_to(principal).values_list("slug", flat=True)
    team = teams.filter(id=assembly.team_id).first() if assembly.team_id else None
    return agent or "", team or ""
