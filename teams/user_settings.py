"""The settings of one's own account: name, e-mail address, notifications, time zone and colours."""

from collections.abc import Callable
from functools import cache
from typing import Any, cast
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from teams.forms import validate_storable
from teams.models import Theme, User

API_PREFIX = "/api/"


@cache
def time_zones() -> list[tuple[str, str]]:
    """Return the choices of time zones: UTC first, then places by continent."""
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [("", "UTC"), *((name, name.replace("_", " ")) for name in places)]


class UserSettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """The form of one's own settings."""

    time_zone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        help_text=gettext_lazy("Times on pages are shown in this zone. Days of contexts and trends stay in UTC."),
        choices=time_zones,
        required=False,
    )
    theme = forms.ChoiceField(
        label=gettext_lazy("Theme"),
        choices=[("", gettext_lazy("Same as device")), *Theme.choices],
        required=False,
        widget=forms.RadioSelect,
    )

    class Meta:
        model = User
        fields = ("name", "email", "email_notifications", "time_zone", "theme")
        labels = {
            "name": gettext_lazy("Name"),
            "email": gettext_lazy("Email address"),
            "email_notifications": gettext_lazy("Email me notifications"),
        }
        help_texts = {
            "name": gettext_lazy("Shown to others as the author of your changes."),
            "email": gettext_lazy("Shown to admins."),
            "email_notifications": gettext_lazy("New alerts and suggestions of your teams, several in one message."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.EMAIL_HOST:
            self.fields["email_notifications"].help_text = gettext_lazy(
                "No mail server is configured yet, so notifications are shown in Dossier only."
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("email_notifications") and not cleaned.get("email") and "email" not in self.errors:
            self.add_error("email", _("Enter the address to which notifications should be sent."))
        return cleaned

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        validate_storable(name)
        return name


@require_http_methods(["GET", "HEAD", "POST"])
def user_settings(request: HttpRequest) -> HttpResponse:
    """Show the person's settings, and save them."""
    person = User.objects.get(id=cast("User", request.user).id)
    form = UserSettingsForm(request.POST if request.method == "POST" else None, instance=person)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Settings saved."))
        return redirect("user_settings")
    return render(request, "teams/user_settings.html", {"form": form}, status=422 if form.errors else 200)


class TimeZoneMiddleware:
    """Show the times of pages in the time zone of the signed-in person. The API always uses UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        name = "" if request.path.startswith(API_PREFIX) else getattr(request.user, "time_zone", "")
        with timezone.override(ZoneInfo(name) if name else None):
            return self.get_response(request)
