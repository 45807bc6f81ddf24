"""The pages on which an external source is registered and changed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.external.access import external_source_for
from assembly.external.forms import ExternalSourceEditForm, ExternalSourceNewForm
from assembly.external.services import external_source_create, external_source_update
from assembly.models import ExternalSource
from config.http.errors import Conflict, Invalid
from teams.access import require_admin
from teams.files import StaleVersion
from teams.principal import Principal
from teams.views.asking import asking

STALE = gettext_lazy(
    "Somebody changed it while you did. Your values are below, not saved yet. Save again to replace theirs."
)


def external_new(request: HttpRequest) -> HttpResponse:
    """A new external source."""
    principal = asking(request)
    require_admin(principal)
    if request.method != "POST":
        return render(request, "assembly/external_new.html", {"form": ExternalSourceNewForm()})
    form = ExternalSourceNewForm(request.POST)
    if form.is_valid() and (source := _created(form, principal)):
        messages.success(request, _("It is registered. Ask it now, to see what it tells."))
        return redirect("external_page", name=source.name)
    form.ask_for_secret_again()
    return render(request, "assembly/external_new.html", {"form": form}, status=422)


def external_edit(request: HttpRequest, name: str) -> HttpResponse:
    """Change an external source; a secret that is left empty stays."""
    principal = asking(request)
    source = external_source_for(principal, name)
    if request.method != "POST":
        form = ExternalSourceEditForm(source=source)
        return render(request, "assembly/external_edit.html", {"form": form, "source": source})
    form = ExternalSourceEditForm(request.POST, source=source)
    if form.is_valid() and _saved(form, source, principal):
        messages.success(request, _("Saved. It counts from the next context on."))
        return redirect("external_page", name=name)
    form.ask_for_secret_again()
    return render(request, "assembly/external_edit.html", {"form": form, "source": source}, status=422)


def _created(form: ExternalSourceNewForm, principal: Principal) -> ExternalSource | None:
    """The new source; None where the form now says what is wrong."""
    name, secret = form.cleaned_data["name"], form.cleaned_data["secret"]
    try:
        return external_source_create(name=name, facts=form.facts(enabled=True), secret=secret, principal=principal)
    except Conflict as error:
        form.add_error("name", error.detail)
    except Invalid as error:
        form.add_error(next(iter(error.extra["errors"])), error.detail)
    return None


def _saved(form: ExternalSourceEditForm, source: ExternalSource, principal: Principal) -> bool:
    """Whether it is saved; if not, the form says why, and saving it once more replaces what others saved meanwhile."""
    try:
        external_source_update(
            source=source,
            facts=form.facts(enabled=source.enabled),
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
