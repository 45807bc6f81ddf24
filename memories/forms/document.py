"""The form of a document."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from memories.forms.fields import Line, one_line
from memories.forms.kept import KeptForm
from memories.models import Document
from teams.forms import storable, with_line_ends_of

MAX_CHARACTERS = 1_000_000
MAX_BYTES = 4 * MAX_CHARACTERS  # of a text in UTF-8


class DocumentForm(KeptForm):
    """A text by its path: uploaded, or pasted."""

    upload = forms.FileField(
        label=_("File"), help_text=_("A text file in UTF-8. It takes the place of the text below."), required=False
    )
    path = Line(
        label=_("Path"),
        help_text=_("Where the file lies in the project: docs/plan.md. Left empty, it is the uploaded file's name."),
        max_length=500,
        required=False,
    )
    language = Line(
        label=_("Language"),
        help_text=_("Such as python or markdown. Left empty, it follows from the path."),
        max_length=40,
        required=False,
    )
    content = forms.CharField(
        label=_("Text"),
        required=False,
        strip=False,
        validators=[storable],
        widget=forms.Textarea(attrs={"rows": 16, "class": "code"}),
    )
    is_open = forms.BooleanField(label=_("The agent has it open now"), required=False)

    def clean_upload(self) -> str | None:
        """The text of the file; None without one."""
        file: UploadedFile[Any] | None = self.cleaned_data["upload"]
        if file is None:
            return None
        if (file.size or 0) > MAX_BYTES:
            raise ValidationError(_("This file is too large: a document holds at most 1,000,000 characters."))
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValidationError(_("This is no text in UTF-8. Save it as such, or paste its text below.")) from None
        if "\0" in text:
            raise ValidationError(_("This is no text file."))
        one_line(file.name or "")
        return text

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        uploaded = values.pop("upload", None)
        if uploaded is not None:
            values["content"] = uploaded
            values["path"] = values.get("path") or str(self.files["upload"])
            # Shown again, the form has no file any more, but its text.
            data = self.data.copy()  # type: ignore[attr-defined]
            data["content"], data["path"] = values["content"], values["path"]
            self.data = data
        elif "content" in values:
            stored = self.stored.content if isinstance(self.stored, Document) else ""
            values["content"] = with_line_ends_of(values["content"], stored)
        if len(values.get("content", "")) > MAX_CHARACTERS:
            self.add_error("content", _("This text is too long: a document holds at most 1,000,000 characters."))
        if not values.get("path") and "path" not in self.errors:
            self.add_error("path", _("Give the document a path, or choose a file."))
        return values
