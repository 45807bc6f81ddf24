"""Keeping one context: the flag on it, and its bundle to take away."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.access import assembly_for
from assembly.models import AssemblyFlag
from assembly.portable.writing import Bundle, zipped
from assembly.retention.flags import assembly_flag, assembly_unflag
from assembly.retention.forms import FlagForm
from teams.views.asking import asking


@require_POST
def flag(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Keep this context, or let it go when its time is over. Answers htmx with `_flag.html`."""
    principal = asking(request)
    assembly = assembly_for(principal, id_)
    form = FlagForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("This note is too long, or cannot be stored. Use at most 200 characters."))
    elif form.cleaned_data["keep"]:
        assembly_flag(assembly=assembly, note=form.cleaned_data["note"], principal=principal)
        messages.success(request, _("This context is kept, however old it gets."))
    else:
        assembly_unflag(assembly=assembly, principal=principal)
        messages.success(request, _("This context is kept as long as others."))
    if request.headers.get("HX-Request"):
        found = AssemblyFlag.objects.filter(assembly=assembly).first()
        return render(
            request, "assembly/_flag.html", {"assembly": assembly, "flag": found, "may_flag": True, "swapped": True}
        )
    return redirect("context", id_=assembly.id)


def bundle(request: HttpRequest, id_: UUID) -> HttpResponse:
    """All that a replay of it needs, with the proof of its seal, as a file."""
    assembly = assembly_for(asking(request), id_)
    headers = {"Content-Disposition": f'attachment; filename="{assembly.id}.zip"', "Cache-Control": "no-store"}
    return HttpResponse(zipped(Bundle([assembly.id])), content_type="application/zip", headers=headers)
