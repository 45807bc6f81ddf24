"""The forms of an import: choosing an archive, and what of it to take although it was changed here."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

MEGABYTE = 1_000_000


class ArchiveForm(forms.Form):
    """A zip."""

    archive = forms.FileField(
        label=_("Zip file"),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        max_length=500,
        error_messages={
            "required": _("Choose a zip file first."),
            "empty": _("This file is empty. Export it again and choose it anew."),
            "max_length": _("The name of this file is too long. Rename it and choose it again."),
        },
    )

    def clean_archive(self) -> Any:
        archive = self.cleaned_data["archive"]
        if archive.size > settings.MAX_BODY_BYTES:
            most = f"{settings.MAX_BODY_BYTES / MEGABYTE:.0f}"
            raise ValidationError(
                _("A zip has at most %(most)s MB here. Import a part at a time."), params={"most": most}
            )
        return archive
