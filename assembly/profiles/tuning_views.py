"""These buttons of a profile's page switch its tuning on and off, and reset it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.profiles.tuning_versions import tuning_reset, tuning_switch
from teams.access import principal_of, require_admin


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Switch the tuning of a profile on, or off."""
    require_admin(principal_of(request))
    is_on = "on" in request.POST
    tuning_switch(name=name, is_on=is_on, principal=principal_of(request))
    messages.success(request, _("Tuning switched on.") if is_on else _("Tuning switched off."))
    return redirect("profile_page", name=name)


@require_POST
def reset(request: HttpRequest, name: str) -> HttpResponse:
    """Reset the tuning of a profile, so that it is as its text says."""
    require_admin(principal_of(request))
    tuning_reset(name=name, principal=principal_of(request))
    messages.success(request, _("Tuning reset. The profile is as its text says."))
    return redirect("profile_page", name=name)
