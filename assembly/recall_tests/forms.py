"""The forms of recall tests: a new test, and a test with its expectations, each of which can be changed or removed.

New expectations are lines: the ref of an item, or else a text.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from assembly.contexts.preview import ContextRequestForm
from assembly.engine.refs import Ref
from assembly.models import RecallTest
from assembly.models.recall_test import MAX_TEST_NAME_CHARACTERS
from assembly.profiles.catalogue import find_profile_row
from assembly.recall_tests.expectations import (
    MAX_TEXT_CHARACTERS,
    Expectation,
    ExpectationKind,
    expectations_from,
    split_ref,
)
from assembly.recall_tests.services import RecallFacts
from assembly.sources.kinds import KINDS
from teams.forms import validate_storable
from teams.models import Team
from teams.principal import Principal

MAX_LINES_CHARACTERS = 20 * (MAX_TEXT_CHARACTERS + 2)
LINES_HELP = _("One per line: a piece of text, or the reference of an item, such as memory:0197…")
REMOVE = "remove"
DIGEST_CHARACTERS = 24


class RecallTestForm(ContextRequestForm):
    """A test: its name, the request, what is expected now, and new expectations.

    A field says for each expectation of the test what becomes of it. It is named by what is expected, so that a choice
    is never taken for another expectation if somebody changed the test meanwhile: the choices for those that are gone
    fall away, and new ones stay as they are.
    """

    field_order: tuple[str, ...] = ("name", "topic")

    name = forms.CharField(
        label=_("Name"), max_length=MAX_TEST_NAME_CHARACTERS, validators=[validate_storable],
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )  # fmt: skip
    include = forms.CharField(
        label=_("Must be in"), help_text=LINES_HELP, required=False, max_length=MAX_LINES_CHARACTERS,
        validators=[validate_storable], widget=forms.Textarea(attrs={"rows": 4}),
    )  # fmt: skip
    exclude = forms.CharField(
        label=_("Must not be in"), help_text=LINES_HELP, required=False, max_length=MAX_LINES_CHARACTERS,
        validators=[validate_storable], widget=forms.Textarea(attrs={"rows": 2}),
    )  # fmt: skip
    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput, initial=0)

    def __init__(self, *args: Any, test: RecallTest | None = None, **kwargs: Any) -> None:
        if test:
            given = {"name": test.name, "topic": test.topic, "profile": test.profile, "max_tokens": test.budget}
            kwargs["initial"] = {**given, "version": test.version, **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)
        if test and test.profile:
            self._offer_profile(test.profile)
        self.expectations = _by_field_name(expectations_from(test.expectations)) if test else {}
        if self.is_bound:
            self.data: Any = self.data.copy()
        for name, expectation in self.expectations.items():
            self.fields[name] = forms.ChoiceField(
                label=expectation.name,
                choices=[("include", _("must be in")), ("exclude", _("must not be in")), (REMOVE, _("remove"))],
                initial=expectation.kind,
            )
            if self.is_bound:
                self.data.setdefault(name, expectation.kind)

    def _offer_profile(self, name: str) -> None:
        """Offer the profile that the test has even if it cannot be used, so that saving does not replace it silently.

        It is refused when the test is saved.
        """
        field: Any = self.fields["profile"]
        if name in (offered for offered, _label in field.choices):
            return
        missing = find_profile_row(name) is None
        label = _("%(name)s (does not exist)") if missing else _("%(name)s (cannot be used)")
        field.choices = [*field.choices, (name, label % {"name": name})]

    @property
    def expectation_fields(self) -> list[forms.BoundField]:
        """The fields of the expectations that the test has."""
        return [self[name] for name in self.expectations]

    def facts(self) -> RecallFacts:
        """Return the facts of a valid form."""
        values = self.cleaned_data
        kept = [
            Expectation(values[name], one.ref, one.text)
            for name, one in self.expectations.items()
            if values[name] != REMOVE
        ]
        added = [*_from_lines("include", values["include"]), *_from_lines("exclude", values["exclude"])]
        return RecallFacts(
            name=values["name"],
            topic=values["topic"],
            profile=values["profile"],
            budget=values["max_tokens"],
            expectations=[*kept, *added],
        )

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if not self.errors and not self.facts().expectations:
            self.add_error("include", _("Name at least one text or item that must be in, or must not be in."))
        return values


class NewRecallTestForm(RecallTestForm):
    """A new test of a team or of an agent."""

    field_order = ("team", "agent", "name", "topic")

    team = forms.ModelChoiceField(
        Team.objects.none(), to_field_name="slug", label=_("Team"), required=False, empty_label=_("No team"),
        help_text=_("The test belongs to the team, and is run for each of its agents unless you choose one."),
    )  # fmt: skip
    agent = forms.ModelChoiceField(
        Agent.objects.none(), to_field_name="slug", label=_("Agent"), required=False, empty_label=_("All of the team"),
    )  # fmt: skip

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = Team.objects.editable_by(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["agent"].queryset = Agent.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if not self.errors and not values.get("team") and not values.get("agent"):
            self.add_error("team", _("Choose a team or an agent."))
        return values


def _by_field_name(expectations: Iterable[Expectation]) -> dict[str, Expectation]:
    """Return the expectations by the names of their fields; a number tells those about the same apart."""
    named: dict[str, Expectation] = {}
    for one in expectations:
        digest = sha256(f"{one.ref}|{one.text}".encode()).hexdigest()[:DIGEST_CHARACTERS]
        repeated = sum((one.ref, one.text) == (other.ref, other.text) for other in named.values())
        named[f"expectation_{digest}" + (f"_{repeated}" if repeated else "")] = one
    return named


def _from_lines(kind: ExpectationKind, lines: str) -> list[Expectation]:
    """Return an expectation for each line that is not blank: an item if the line is a ref, else a text."""
    stripped = [line.strip() for line in lines.splitlines() if line.strip()]
    return [Expectation(kind, **({"ref": line} if is_ref(line) else {"text": line})) for line in stripped]


def is_ref(text: str) -> bool:
    """Return whether the text is the ref of an item that tests can name."""
    named = Ref.parse(split_ref(text)[0])
    try:
        UUID(named.id)
    except ValueError:
        return False
    return named.kind in KINDS
