"""Why not …? One box; the answer in a sentence, then the ranking around the thing, then what would change it."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.access import assembly_for
from assembly.recorded import recorded
from assembly.views.why_not_words import answered, choices, missing
from assembly.why_not_forms import WhyNotForm
from assembly.whynot.answer import why_not as why_not_found
from teams.views.asking import asking


def why_not(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The page, with an answer where something is asked."""
    assembly = assembly_for(asking(request), id_)
    form = WhyNotForm(request.GET)
    facts: dict[str, object] = {"assembly": assembly, "form": form}
    if form.asks:
        asked = form.cleaned_data
        found = why_not_found(assembly, ref=asked["ref"], words=asked["q"], section=asked["section"])
        facts |= {"answer": answered(found), "choices": choices(found.matches[1:])}
    else:
        facts |= {"choices": missing(recorded(assembly))}
    return render(request, "assembly/why_not.html", facts, status=200 if form.is_valid() else 422)
