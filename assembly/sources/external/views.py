"""The pages of external sources: the list, a source with its test, registration and changes."""

from dataclasses import replace
from typing import Any

import yaml
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from assembly.models import ExternalSource
from assembly.models.external_source import MAX_LABEL_CHARACTERS
from assembly.sources.external.forms import ExternalSourceEditForm, ExternalSourceNewForm, QueryForm, SwitchForm
from assembly.sources.external.questions import EXTERNAL_SOURCE
from assembly.sources.external.services import (
    ExternalSourceConfig,
    external_source_ask,
    external_source_create,
    external_source_delete,
    external_source_for,
    external_source_update,
    find_external_source,
)
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, Invalid
from teams.access import principal_of, require_admin
from teams.principal import Principal
from teams.versioned_text.presentation import Crumb
from teams.versioned_text.versioned_file import StaleVersion
from teams.views.confirmation import Confirmation, confirmation_page


def external_list(request: HttpRequest) -> HttpResponse:
    """Show all external sources, newest first; people who are no admins see names and labels only."""
    found, cursor = page_of(ExternalSource.objects.all(), request.GET)
    context = {"sources": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}
    return render(request, "assembly/sources/external/list.html", context)


def external_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show an external source; admins can test it here."""
    return _page(request, find_external_source(name), QueryForm())


@require_POST
def ask(request: HttpRequest, name: str) -> HttpResponse:
    """Test the source: show its page again, with the results or the error. Nothing is stored."""
    source = external_source_for(principal_of(request), name)
    form = QueryForm(request.POST)
    if not form.is_valid():
        return _page(request, source, form, status=422)
    told = external_source_ask(source=source, query=form.cleaned_data["query"])
    return _page(request, source, form, told=told)


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Enable or disable the source. Raises StaleVersion if the page did not show the newest version."""
    principal = principal_of(request)
    source = external_source_for(principal, name)
    form = SwitchForm(request.POST)
    form.full_clean()
    enabled = form.cleaned_data["on"]
    external_source_update(
        source=source,
        facts=replace(ExternalSourceConfig.of(source), enabled=enabled),
        secret=None,
        expected_version=form.cleaned_data.get("version", 0),
        principal=principal,
    )
    messages.success(
        request, _("Webhook enabled.") if enabled else _("The source is disabled. Contexts are assembled without it.")
    )
    return redirect("external_page", name=name)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for confirmation, and delete the source."""
    principal = principal_of(request)
    source = external_source_for(principal, name)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the external source %(name)s?") % {"name": name},
                consequences=[
                    _(
                        "This deletes its URL and its secret. Sections that name it will be empty, and contexts "
                        "will have a warning."
                    ),
                    _("Recorded contexts are not changed. To pause it, disable it."),
                ],
                button=_("Delete permanently"),
                back=reverse("external_page", args=[name]),
                crumbs=[Crumb(_("External sources"), reverse("external_list"))],
            ),
        )
    external_source_delete(source=source, principal=principal)
    messages.success(
        request, _("External source %(name)s deleted. Recorded contexts are not changed.") % {"name": name}
    )
    return redirect("external_list")


def _page(
    request: HttpRequest, source: ExternalSource, form: QueryForm, status: int = 200, **facts: Any
) -> HttpResponse:
    context = {"source": source, "form": form, "section": _section_yaml(source), **facts}
    return render(request, "assembly/sources/external/source.html", context, status=status)


def _section_yaml(source: ExternalSource) -> str:
    """Return the YAML of a section for the source, to be copied into a profile."""
    section = {"key": source.name, "heading": source.label, "layer": "L6", "source": EXTERNAL_SOURCE, "shape": "blocks"}
    return yaml.safe_dump([section], sort_keys=False, allow_unicode=True, width=MAX_LABEL_CHARACTERS * 2)


STALE = gettext_lazy(
    "Someone changed it meanwhile. Your values are below and not saved. Save again to replace the other values."
)


def external_new(request: HttpRequest) -> HttpResponse:
    """Register an external source."""
    principal = principal_of(request)
    require_admin(principal)
    if request.method != "POST":
        return render(request, "assembly/sources/external/new.html", {"form": ExternalSourceNewForm()})
    form = ExternalSourceNewForm(request.POST)
    if form.is_valid() and (source := _create_source(form, principal)):
        messages.success(request, _("External source created. Test it to see its results."))
        return redirect("external_page", name=source.name)
    form.require_secret()
    return render(request, "assembly/sources/external/new.html", {"form": form}, status=422)


def external_edit(request: HttpRequest, name: str) -> HttpResponse:
    """Change an external source; an empty secret field leaves the secret unchanged."""
    principal = principal_of(request)
    source = external_source_for(principal, name)
    if request.method != "POST":
        form = ExternalSourceEditForm(source=source)
        return render(request, "assembly/sources/external/edit.html", {"form": form, "source": source})
    form = ExternalSourceEditForm(request.POST, source=source)
    if form.is_valid() and _save_source(form, source, principal):
        messages.success(request, _("Saved. The change applies to the next context."))
        return redirect("external_page", name=name)
    form.require_secret()
    return render(request, "assembly/sources/external/edit.html", {"form": form, "source": source}, status=422)


def _create_source(form: ExternalSourceNewForm, principal: Principal) -> ExternalSource | None:
    """Return the new source; None if the form now has errors."""
    name, secret = form.cleaned_data["name"], form.cleaned_data["secret"]
    try:
        return external_source_create(name=name, facts=form.facts(enabled=True), secret=secret, principal=principal)
    except Conflict as error:
        form.add_error("name", error.detail)
    except Invalid as error:
        form.add_error(next(iter(error.extra["errors"])), error.detail)
    return None


def _save_source(form: ExternalSourceEditForm, source: ExternalSource, principal: Principal) -> bool:
    """Return whether the source was saved; if not, the form has the error, and saving again overwrites the changes of
    others.
    """
    try:
        external_source_update(
            source=source,
            facts=form.facts(enabled=source.enabled, sensitivity=source.sensitivity),
            secret=form.new_secret(),
            expected_version=form.cleaned_data["version"],
            principal=principal,
        )
    except StaleVersion as error:
        form.data = {**dict(form.data.items()), "version": str(error.current.version)}
        form.add_error(None, STALE)
    except Invalid as error:
        form.add_error(next(iter(error.extra["errors"])), error.detail)
    else:
        return True
    return False
