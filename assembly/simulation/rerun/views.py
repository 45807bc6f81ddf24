"""The page of a rerun."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.access import assembly_for
from assembly.comparison.presentation import explained_page
from assembly.simulation.rerun.services import rerun_today
from teams.access import principal_of


def rerun(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the recorded context and the one of today. Nothing is recorded."""
    assembly = assembly_for(principal_of(request), id_)
    found = rerun_today(assembly)
    page = {"assembly": assembly, "found": found, **explained_page(found, found.owners.agent, found.owners.team)}
    return render(request, "assembly/simulation/rerun/rerun.html", page)
