"""The pages of external sources: all of them, one of them, and what it tells when it is asked now."""

from dataclasses import replace
from typing import Any

import yaml
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from assembly.external.access import external_source_for, external_source_named
from assembly.external.asking import SOURCE
from assembly.external.forms import QueryForm, SwitchForm
from assembly.external.services import SourceFacts, external_source_delete, external_source_update
from assembly.external.trying import external_source_ask
from assembly.models import ExternalSource
from assembly.models.external import MAX_LABEL_CHARACTERS
from config.http.cursors import next_address, page_of
from teams.views.asking import asking
from teams.views.confirmation import Confirmation, confirmation_page
from teams.views.document import Crumb


def external_list(request: HttpRequest) -> HttpResponse:
    """All external sources, the newest first; for those who are no admins, names and labels alone."""
    found, cursor = page_of(ExternalSource.objects.all(), request.GET)
    context = {"sources": found, "next": next_address(request.path, request.GET.dict(), cursor)}
    return render(request, "assembly/external_list.html", context)


def external_page(request: HttpRequest, name: str) -> HttpResponse:
    """An external source; admins can ask it here."""
    return _page(request, external_source_named(name), QueryForm())


@require_POST
def ask(request: HttpRequest, name: str) -> HttpResponse:
    """Ask it now: the page once more, with what came back or went wrong. Nothing is kept."""
    source = external_source_for(asking(request), name)
    form = QueryForm(request.POST)
    if not form.is_valid():
        return _page(request, source, form, status=422)
    told = external_source_ask(source=source, query=form.cleaned_data["query"])
    return _page(request, source, form, told=told)


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Switch it on or off. Raises StaleVersion if the page did not show the newest."""
    principal = asking(request)
    source = external_source_for(principal, name)
    form = SwitchForm(request.POST)
    form.full_clean()
    enabled = form.cleaned_data["on"]
    external_source_update(
        source=source,
        facts=replace(SourceFacts.of(source), enabled=enabled),
        secret=None,
        expected_version=form.cleaned_data.get("version", 0),
        principal=principal,
    )
    messages.success(request, _("It is on.") if enabled else _("It is off. Contexts are made without it."))
    return redirect("external_page", name=name)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether it shall go, and delete it."""
    principal = asking(request)
    source = external_source_for(principal, name)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the external source %(name)s?") % {"name": name},
                consequences=[
                    _("Its address and its secret go. Sections that name it stay empty, and contexts say so."),
                    _("Contexts that hold what it told stay. To pause it, switch it off."),
                ],
                button=_("Delete it for good"),
                back=reverse("external_page", args=[name]),
                crumbs=[Crumb(_("External sources"), reverse("external_list"))],
            ),
        )
    external_source_delete(source=source, principal=principal)
    messages.success(
        request, _("The external source %(name)s is deleted. Contexts that hold what it told stay.") % {"name": name}
    )
    return redirect("external_list")


def _page(
    request: HttpRequest, source: ExternalSource, form: QueryForm, status: int = 200, **facts: Any
) -> HttpResponse:
    context = {"source": source, "form": form, "section": _section(source), **facts}
    return render(request, "assembly/external.html", context, status=status)


def _section(source: ExternalSource) -> str:
    """The text of a section that it fills, to be taken over into a profile."""
    section = {"key": source.name, "heading": source.label, "layer": "L6", "source": SOURCE, "shape": "blocks"}
    return yaml.safe_dump([section], sort_keys=False, allow_unicode=True, width=MAX_LABEL_CHARACTERS * 2)
