"""The form of the overrides of a recorded context. Fields that are left unchanged override nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.engine.profile import Section
from assembly.engine.refs import Ref
from assembly.engine.tokenizers import available_tokenizers
from assembly.models.proposal import MAX_NOTE_CHARACTERS
from assembly.pipeline.request import MAX_TOKENS, MAX_TOPIC_CHARACTERS
from assembly.profiles.catalogue import all_profiles
from assembly.records.item_titles import file_title
from assembly.records.reader import StoredAssembly
from assembly.records.section_names import section_name
from assembly.simulation.simulate import Overrides, is_file
from assembly.sources.kinds import ITEM_KINDS
from teams.forms import validate_storable
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, Version

VERSIONS_OFFERED = 30
CAP = "cap_"
FILE = "file_"
"""The prefix of the names of fields that exist per section and per file."""


class WhatIfForm(forms.Form):
    """The form of what can be changed in a context: its fields depend on the context's sections, files, and rules."""

    max_tokens = forms.IntegerField(
        label=gettext_lazy("Budget in tokens"), min_value=0, max_value=MAX_TOKENS, required=False
    )
    topic = forms.CharField(
        label=gettext_lazy("Topic"),
        help_text=gettext_lazy("Another topic is searched as of now, not as of then."),
        max_length=MAX_TOPIC_CHARACTERS,
        required=False,
        validators=[validate_storable],
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    profile = forms.ChoiceField(label=gettext_lazy("Profile"), required=False)
    tokenizer = forms.ChoiceField(label=gettext_lazy("Tokenizer"), required=False)
    without_rules = forms.MultipleChoiceField(
        label=gettext_lazy("Without these rules"), required=False, widget=forms.CheckboxSelectMultiple
    )
    with_rule = forms.CharField(
        label=gettext_lazy("With another rule"),
        help_text=gettext_lazy("In the format of rules, for example: then: {exclude: [{source: daily_logs}]}"),
        max_length=MAX_FILE_CHARACTERS,
        required=False,
        validators=[validate_storable],
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code", "spellcheck": "false"}),
    )
    note = forms.CharField(
        label=gettext_lazy("Comment"), max_length=MAX_NOTE_CHARACTERS, required=False, validators=[validate_storable]
    )

    def __init__(
        self, data: QueryDict | None = None, *, told: StoredAssembly, asked: Mapping[str, str] | None = None
    ) -> None:
        """`asked` are the initial values of fields, from the address of the page."""
        assembly = told.assembly
        super().__init__(data, initial={"max_tokens": assembly.budget, "topic": assembly.topic, **(asked or {})})
        self.told = told
        was = _("Unchanged (%(name)s v%(number)s)")
        profile = was % {"name": assembly.profile_name, "number": assembly.profile_version}
        self._choose("profile", profile, [entry.name for entry in all_profiles() if entry.described])
        others = [name for name in available_tokenizers() if name != assembly.tokenizer]
        self._choose("tokenizer", _("Unchanged (%(name)s)") % {"name": assembly.tokenizer}, others)
        rules = [rule.name for rule in told.inputs.request.rules]
        if rules:
            self.fields["without_rules"].choices = [(name, name) for name in rules]  # type: ignore[attr-defined]
        else:
            del self.fields["without_rules"]
        for section in _cappable_sections(told):
            self.fields[f"{CAP}{section.key}"] = _cap_field(section)
        for key, versions in _versions_by_file(told).items():
            self.fields[f"{FILE}{key}"] = _version_field(key, versions)

    def _choose(self, name: str, was: str, others: Sequence[str]) -> None:
        choices = [("", was), *((other, other) for other in others)]
        self.fields[name].choices = choices  # type: ignore[attr-defined]

    @property
    def most(self) -> list[Any]:
        """The most frequently used fields."""
        return [self[name] for name in ("max_tokens", "topic", "profile")]

    @property
    def of_files(self) -> list[Any]:
        """One field per file of the context that has other versions."""
        return [self[name] for name in self.fields if name.startswith(FILE)]

    @property
    def of_rules(self) -> list[Any]:
        """The fields about rules."""
        return [self[name] for name in ("without_rules", "with_rule") if name in self.fields]

    @property
    def of_sections(self) -> list[Any]:
        """The fields about the limits of sections."""
        return [self["tokenizer"], *(self[name] for name in self.fields if name.startswith(CAP))]

    @property
    def opens(self) -> frozenset[str]:
        """The groups with a chosen value or an error, which are shown open."""
        groups = {"files": self.of_files, "rules": self.of_rules, "sections": self.of_sections}
        return frozenset(
            name for name, group in groups.items() if any(one.errors or one.data or one.initial for one in group)
        )

    def overrides(self) -> Overrides:
        """Return the overrides in a valid form."""
        values, assembly = self.cleaned_data, self.told.assembly
        topic = values["topic"].replace("\r\n", "\n")
        return Overrides(
            max_tokens=None if values["max_tokens"] == assembly.budget else values["max_tokens"],
            topic=None if topic == assembly.topic else topic,
            profile=values["profile"] or None,
            tokenizer=values["tokenizer"] or None,
            without_rules=tuple(values.get("without_rules", ())),
            with_rule=values["with_rule"].replace("\r\n", "\n") if values["with_rule"].strip() else None,
            caps=dict(_changed_values(values, CAP)),
            files={key: int(number) for key, number in _changed_values(values, FILE)},
        )

    def add_refusal(self, errors: Mapping[str, Any], detail: str) -> None:
        """Add the error of the service to the field that it is about, else to the form."""
        for name in errors:
            field = name.replace("files.", FILE)
            self.add_error(field if field in self.fields else None, detail)


def _changed_values(values: Mapping[str, Any], beginning: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name.startswith(beginning) and value not in (None, ""):
            yield name.removeprefix(beginning), value


def _cappable_sections(told: StoredAssembly) -> list[Section]:
    """Return the sections that may have a limit."""
    return [section for section in told.inputs.profile.sections if not section.required]


def _cap_field(section: Section) -> forms.IntegerField:
    was = _("now %(cap)s") % {"cap": f"{section.cap:,}"} if section.cap is not None else _("no limit now")
    label = _("Maximum tokens of %(section)s") % {"section": section_name(section)}
    return forms.IntegerField(label=f"{label} ({was})", min_value=0, max_value=MAX_TOKENS, required=False)


def _version_field(key: str, versions: Sequence[tuple[int, Version]]) -> forms.ChoiceField:
    ((was, _first), *_rest) = versions
    choices = [("", _("Unchanged (v%(number)s)") % {"number": was})]
    choices += [(str(version.version), _version_label(version)) for _was, version in versions if version.version != was]
    return forms.ChoiceField(label=file_title(key), choices=choices, required=False)


def _version_label(version: Version) -> str:
    label = _("Version %(number)s by %(name)s, %(day)s") % {
        "number": version.version,
        "name": version.editor_name or "Dossier",
        "day": f"{version.created:%Y-%m-%d}",
    }
    return f"{label}: {version.note}" if version.note else label


def _versions_by_file(told: StoredAssembly) -> dict[str, list[tuple[int, Version]]]:
    """Return by file key the included version, with the newest versions, for files that have others."""
    was = {(ref := Ref.parse(one.ref)).item: (one.kind, ref) for one in told.inputs.candidates if is_file(one)}
    found: dict[str, list[tuple[int, Version]]] = {}
    for kind in filter(lambda kind: kind.is_file, ITEM_KINDS):
        ids = [ref.id for _key, ref in was.values() if ref.kind == kind.name]
        for row in kind.versions.objects.filter(file_id__in=ids).order_by("-version").defer("content"):
            key, ref = was[f"{kind.name}:{row.file_id}"]
            found.setdefault(key, []).append((int(ref.version), row))
    return {key: rows[: VERSIONS_OFFERED + 1] for key, rows in sorted(found.items()) if len(rows) > 1}
