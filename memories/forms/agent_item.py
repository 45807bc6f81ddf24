"""These forms edit items of agents: entities, patterns, threads, tools, documents, goals; they have a common base."""

from dataclasses import dataclass
from typing import Any, Self

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from config.http.errors import DossierError
from memories.forms.fields import JsonObject, Line, Lines, Properties, Text, validate_one_line
from memories.models import Document, ThreadStatus
from memories.models.agent_item import AgentItem
from teams.forms import match_line_endings, validate_storable

MAX_VERSION = 2**31 - 1


class VersionForm(forms.Form):
    """A form with the version that an edit was based on, to detect concurrent edits."""

    version = forms.IntegerField(min_value=0, max_value=MAX_VERSION, widget=forms.HiddenInput)


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that another person has changed since the form was opened: its label and its stored value as text."""

    label: str
    text: str


class StoredForm(VersionForm):
    """The base of forms that edit a stored object. Fields are named like the model's; `version` is 0 for a new one."""

    def __init__(self, *args: Any, stored: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored = stored
        self.initial = {"version": 0, **self.initial} if stored is None else self.values_of(stored)

    def values_of(self, thing: Any) -> dict[str, Any]:
        """Return the values of the object by form field."""
        return {name: getattr(thing, name) for name in self.fields if hasattr(thing, name)}

    def refused(self, error: DossierError) -> None:
        """Add the errors that the service raised to the form's fields."""
        errors = error.extra.get("errors") or {"": [{"message": error.detail}]}
        for name, faults in errors.items():
            field = name.partition(".")[0]
            for fault in faults:
                self.add_error(field if field in self.fields else None, fault["message"])

    def based_on(self, current: Any) -> Self:
        """Return the form with the data that was typed, but based on the current version of the object."""
        data = self.data.copy()  # type: ignore[attr-defined]
        data["version"] = str(current.version)
        return self.rebound(data, current)

    def rebound(self, data: Any, stored: Any) -> Self:
        """Return a form of the same class with other data."""
        return type(self)(data, stored=stored)

    def differences(self) -> list[FieldDifference]:
        """Return the fields in which the stored object differs from what was typed."""
        assert self.stored is not None  # noqa: S101 - only a stored thing can have changed
        said = self.values_of(self.stored)
        return [
            FieldDifference(str(bound.label), text)
            for bound in self.visible_fields()
            if bound.name in said
            and (text := _as_text(bound.field.prepare_value(said[bound.name]))) != _as_text(bound.value())
        ]


class AgentItemForm(StoredForm):
    """The base of forms that create or edit an item of an agent."""

    def __init__(self, *args: Any, agent: Agent, stored: AgentItem | None = None, **kwargs: Any) -> None:
        super().__init__(*args, stored=stored, **kwargs)
        self.agent = agent

    @property
    def facts(self) -> dict[str, Any]:
        """The values of a valid form by the names of the model's fields."""
        return {name: value for name, value in self.cleaned_data.items() if name != "version"}

    def rebound(self, data: Any, stored: Any) -> Self:
        return type(self)(data, agent=self.agent, stored=stored)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    text = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return text.replace("\r\n", "\n").strip()


valid_type = RegexValidator(
    r"\A[A-Za-z0-9_.:-]{1,60}\Z", _("Use one word of letters, digits and _ . : -, for example person or works_on.")
)


class EntityForm(AgentItemForm):
    """A form for an entity: name, type, aliases, properties and salience."""

    name = Line(label=_("Name"), max_length=200)
    type = Line(
        label=_("Type"),
        help_text=_("One word: person, project, place, service …"),
        max_length=60,
        validators=[valid_type],
    )
    aliases = Lines(
        label=_("Other names"),
        help_text=_("One per line. A topic may use any of them."),
        longest=200,
        required=False,
    )
    properties = Properties(
        label=_("Properties"), help_text=_("One per line, for example “role: stage manager”."), required=False
    )
    salience = forms.FloatField(
        label=_("Importance"),
        help_text=_("From 0 to 1. Important entities are included first and drawn larger."),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


INTENTS = (
    ("question", _("question")),
    ("action", _("request")),
    ("fix", _("fix")),
    ("explain", _("explanation")),
    ("other", _("other")),
)


class PatternForm(AgentItemForm):
    """A form for a pattern: guidance, and the words, intents and entity types to which it applies."""

    name = Line(label=_("Name"), max_length=200)
    guidance = Text(label=_("Content"), help_text=_("Explain it as you would to a colleague."))
    keywords = Lines(label=_("Trigger words"), help_text=_("One per line."), longest=80, required=False)
    intents = forms.MultipleChoiceField(
        label=_("Trigger intents"), choices=INTENTS, widget=forms.CheckboxSelectMultiple, required=False
    )
    entity_types = Lines(label=_("Trigger entity types"), help_text=_("One per line."), longest=60, required=False)
    applications = forms.IntegerField(label=_("Applications"), min_value=0, max_value=MAX_VERSION, initial=0)
    successes = forms.IntegerField(label=_("Successful applications"), min_value=0, max_value=MAX_VERSION, initial=0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = {value for value, _label in INTENTS}
        kept = [(value, value) for value in self.initial.get("intents", []) if value not in known]
        self.fields["intents"].choices = [*INTENTS, *kept]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if {"successes", "applications"} <= values.keys() and values["successes"] > values["applications"]:
            self.add_error("successes", _("There cannot be more successful applications than applications."))
        return values


class ThreadForm(AgentItemForm):
    """A form for a thread: title, summary and status."""

    title = Line(label=_("Summary"), max_length=200)
    summary = Text(label=_("Summary"), required=False)
    status = forms.ChoiceField(label=_("Status"), choices=ThreadStatus.choices, initial=ThreadStatus.ACTIVE)


class ToolForm(AgentItemForm):
    """A form for a tool: name, description and the JSON schema of its arguments."""

    name = Line(label=_("Name"), help_text=_("The name that the agent uses: send_mail."), max_length=120)
    description = Text(label=_("Effect"), required=False)
    schema = JsonObject(
        label=_("Arguments"), help_text=_("A JSON schema, as documented for the tool."), rows=10, required=False
    )


MAX_CHARACTERS = 1_000_000
MAX_BYTES = 4 * MAX_CHARACTERS  # in UTF-8


class DocumentForm(AgentItemForm):
    """A form for a document: a path, and a text that is uploaded or pasted."""

    upload = forms.FileField(
        label=_("File"), help_text=_("A text file in UTF-8. It replaces the text below."), required=False
    )
    path = Line(
        label=_("Path"),
        help_text=_("The file's path in the project: docs/plan.md. Default: the name of the uploaded file."),
        max_length=500,
        required=False,
    )
    language = Line(
        label=_("Language"),
        help_text=_("For example python or markdown. Default: detected from the path."),
        max_length=40,
        required=False,
    )
    content = forms.CharField(
        label=_("Text"),
        required=False,
        strip=False,
        validators=[validate_storable],
        widget=forms.Textarea(attrs={"rows": 16, "class": "code"}),
    )
    is_open = forms.BooleanField(label=_("Open in the agent's editor"), required=False)

    def clean_upload(self) -> str | None:
        """Return the text of the uploaded file; None without one. Raises ValidationError for a file that is no text."""
        file: UploadedFile[Any] | None = self.cleaned_data["upload"]
        if file is None:
            return None
        if (file.size or 0) > MAX_BYTES:
            raise ValidationError(_("The file is too large: a document has at most 1,000,000 characters."))
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValidationError(
                _("This file is not UTF-8 text. Save it as UTF-8, or paste its text below.")
            ) from None
        if "\0" in text:
            raise ValidationError(_("This is not a text file."))
        validate_one_line(file.name or "")
        return text

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        uploaded = values.pop("upload", None)
        if uploaded is not None:
            values["content"] = uploaded
            values["path"] = values.get("path") or str(self.files["upload"])
            # When the form is shown again, its file is lost, so the text is put into the text field.
            data = self.data.copy()  # type: ignore[attr-defined]
            data["content"], data["path"] = values["content"], values["path"]
            self.data = data
        elif "content" in values:
            stored = self.stored.content if isinstance(self.stored, Document) else ""
            values["content"] = match_line_endings(values["content"], stored)
        if len(values.get("content", "")) > MAX_CHARACTERS:
            self.add_error("content", _("The text is too long: a document has at most 1,000,000 characters."))
        if not values.get("path") and "path" not in self.errors:
            self.add_error("path", _("Enter a path, or choose a file."))
        return values


class GoalForm(forms.Form):
    """A form for a new goal on a task stack."""

    goal = Text(label=_("Task"), rows=3)


class ResultForm(forms.Form):
    """A form for the result of a goal; `frame` is the id of the goal that the person saw as the current one."""

    frame = forms.UUIDField(widget=forms.HiddenInput)
    result = Text(label=_("Result"), help_text=_("A short summary for the parent task."), required=False)
