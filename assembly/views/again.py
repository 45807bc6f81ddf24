"""What would the agent be told today? The request again, beside what was told then, each difference explained."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.access import assembly_for
from assembly.again.asking import whom_of
from assembly.again.today import again_today
from assembly.views.beside_rows import beside_page, deed_rows
from assembly.views.cause_links import cause_addresses
from teams.views.asking import asking


def again(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The context then and today. Nothing is recorded."""
    assembly = assembly_for(asking(request), id_)
    found = again_today(assembly)
    causes = [mine for _change, mine in found.changes]
    whom = whom_of(assembly)
    addresses = cause_addresses({one for mine in causes for one in mine}, whom.agent, whom.team)
    page = {
        "assembly": assembly,
        "found": found,
        "since": deed_rows(found.beside, found.changes, addresses),
        **beside_page(found.beside, causes, addresses),
    }
    return render(request, "assembly/again.html", page)
