"""The page of a rerun."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.access import assembly_for
from assembly.comparison.presentation import cause_addresses, comparison_page, edit_rows
from assembly.simulation.rerun.services import rerun_today
from teams.access import principal_of


def rerun(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the context then and today. Nothing is recorded."""
    assembly = assembly_for(principal_of(request), id_)
    found = rerun_today(assembly)
    causes = [mine for _change, mine in found.changes]
    addresses = cause_addresses({one for mine in causes for one in mine}, found.owners.agent, found.owners.team)
    page = {
        "assembly": assembly,
        "found": found,
        "since": edit_rows(found.beside, found.changes, addresses),
        **comparison_page(found.beside, causes, addresses),
    }
    return render(request, "assembly/simulation/rerun/rerun.html", page)
