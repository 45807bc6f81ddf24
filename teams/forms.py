"""Forms of teams, members, accounts, and of every versioned text."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from config.invisible_characters import is_blank
from teams.models import Team
from teams.principal import Action, Principal, Role
from teams.readings.models import ReadingReasons
from teams.secret_scanning.handling import SecretHandling
from teams.services import people_to_add
from teams.slugs import MAX_SLUG_CHARACTERS, derive_slug, valid_slug
from teams.versioned_text.merging import Lines, MergeChunk
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, MAX_NOTE_CHARACTERS, VersionedFile

SURROGATE = re.compile("[\ud800-\udfff]")


def validate_storable(text: str) -> None:
    """Raise ValidationError if the text has characters that the database cannot store, or none that can be seen."""
    if SURROGATE.search(text):
        raise ValidationError(_("The text has invalid characters. Type or paste it again."), code="surrogate")
    if text.strip() and is_blank(text):
        raise ValidationError(_("The text has invisible characters only. Type it again."), code="invisible")


def match_line_endings(text: str, stored: str) -> str:
    """Return the text that a browser sent, with the line endings of the stored text.

    Browsers send CRLF. If the texts differ in line endings alone, the stored text itself is returned, so that opening
    and saving a file changes no byte.
    """
    plain = normalise_line_endings(text)
    if plain == normalise_line_endings(stored):
        return stored
    return plain.replace("\n", "\r\n") if "\r\n" in stored else plain


def normalise_line_endings(text: str) -> str:
    """Return the text with every line ending as a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class TextForm(forms.Form):
    """A form with a text and the version that it is based on; 0 if the text is new."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    content = forms.CharField(required=False, strip=False, validators=[validate_storable])

    def __init__(self, *args: Any, stored: VersionedFile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored = stored

    def clean_content(self) -> str:
        content = match_line_endings(self.cleaned_data["content"], self.stored.content)
        if len(content) > MAX_FILE_CHARACTERS:
            raise ValidationError(
                _("The text has %(has)s characters; the maximum is %(most)s. Shorten it or move a part elsewhere."),
                code="too_long",
                params={"has": f"{len(content):,}", "most": f"{MAX_FILE_CHARACTERS:,}"},
            )
        return content


class DraftForm(TextForm):
    """A form with the text of a draft, the revision of the draft that it is based on, and its author.

    The page names its author, because another person may sign in in the same browser while the page is open.
    """

    revision = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    keeping = forms.BooleanField(required=False)
    person = forms.UUIDField(required=False)

    def __init__(self, *args: Any, person: UUID, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.signed_in = person

    def clean_revision(self) -> int:
        return self.cleaned_data["revision"] or 0

    def clean_person(self) -> UUID | None:
        person: UUID | None = self.cleaned_data["person"]
        if person and person != self.signed_in:
            raise ValidationError(
                _("Someone else has signed in in this browser. Sign in with your account to save your text."),
                code="other_person",
            )
        return person


class MergeForm(DraftForm):
    """A person's text, version `base` that it was made from, and what to take at each place of conflict.

    The fields `choice-1`, `choice-2` … are "mine", "theirs", "both" or "own"; `own-1`, `own-2` … are lines of the
    person's own for that place. `all` is "mine" or "theirs" for every place.
    """

    base = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    other_window = forms.BooleanField(required=False)

    def is_outdated(self, newest: int, revision: int) -> bool:
        """Return whether the published text or the draft is another one now than the page showed."""
        return (self.cleaned_data["version"], self.cleaned_data["revision"]) != (newest, revision)

    def sent_choice(self, number: int) -> tuple[str, str]:
        """Return the choice at a place, "" without one, and the person's own lines for it."""
        choice = self.data.get("all") or self.data.get(f"choice-{number}", "")
        return choice, normalise_line_endings(self.data.get(f"own-{number}", ""))

    def chosen_lines(self, chunks: Sequence[MergeChunk]) -> list[Lines] | None:
        """Return the lines to take at each conflict; None, with errors on the form, while a choice is missing."""
        conflicts = [chunk for chunk in chunks if chunk.has_conflict]
        lines = [self._lines_at(number, chunk) for number, chunk in enumerate(conflicts, 1)]
        missing = [str(number) for number, chosen in enumerate(lines, 1) if chosen is None]
        if missing:
            self.add_error(None, _("Choose a text at place %(places)s.") % {"places": ", ".join(missing)})
            return None
        return [chosen for chosen in lines if chosen is not None]

    def _lines_at(self, number: int, chunk: MergeChunk) -> Lines | None:
        choice, own = self.sent_choice(number)
        theirs = chunk.theirs or ()
        if choice == "own" and SURROGATE.search(own):
            return None
        by_choice = {"mine": chunk.lines, "theirs": theirs, "both": chunk.lines + theirs}
        return tuple(own.split("\n")) if choice == "own" else by_choice.get(choice)


class PublishForm(forms.Form):
    """A form that publishes a revision of a draft, with a note on the change."""

    revision = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    note = forms.CharField(
        label=_("Change summary"),
        help_text=_("Change summary, e.g. “New demo date”"),
        required=False,
        max_length=MAX_NOTE_CHARACTERS,
        validators=[validate_storable],
    )


class NamedForm(forms.Form):
    """A form with a name and a slug, which is made from the name if it is empty."""

    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Slug (used in URLs and the API)"),
        help_text=_("Lower-case letters, digits and hyphens. Default: derived from the name."),
        max_length=MAX_SLUG_CHARACTERS,
        required=False,
        validators=[valid_slug],
    )

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if not values.get("slug") and "slug" not in self.errors and "name" in values:
            values["slug"] = derive_slug(values["name"])
            if not values["slug"]:
                self.add_error("slug", _("No slug can be derived from this name. Enter one."))
        return values


class TeamForm(NamedForm):
    """The form of a new team."""


class TeamSettingsForm(forms.Form):
    """The form of a team's name and of what its agents may do.

    `version` is the version of the team that the page showed.
    """

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    name = forms.CharField(label=_("Name"), max_length=120)
    agents_may_change_texts = forms.BooleanField(
        label=_("Agents may change what people wrote"),
        help_text=_(
            "With their keys, agents may then change, merge, pin, archive and delete memories of the "
            "team that people wrote, and change its files and rules if the key has permission. They "
            "can always change what agents wrote."
        ),
        required=False,
    )
    secret_handling = forms.ChoiceField(
        label=_("Keys and passwords in texts"),
        choices=SecretHandling.choices,
        help_text=_("What happens to a text of the team or of its agents in which a key or password is recognized."),
    )
    reading_reasons = forms.ChoiceField(
        label=_("Read with a reason only"),
        choices=ReadingReasons.choices,
        help_text=_("People give a reason before they open or download it. It is listed in the “Reading log”."),
        required=False,
    )

    def clean_reading_reasons(self) -> str | None:
        """Return the choice; None if the form was sent without it."""
        return self.cleaned_data["reading_reasons"] or None


class DeletionForm(forms.Form):
    """The form that confirms a permanent deletion: the person types the slug of what is deleted."""

    typed = forms.CharField(max_length=MAX_SLUG_CHARACTERS)

    def __init__(self, *args: Any, slug: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = slug
        self.fields["typed"].label = _("To confirm, enter the slug: %(slug)s") % {"slug": slug}
        self.fields["typed"].widget.attrs["autocomplete"] = "off"

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed != self.slug:
            raise ValidationError(_("This is not the slug. Nothing was deleted."), code="other")
        return typed


class MemberForm(forms.Form):
    """The form that adds a person to a team."""

    username = forms.CharField(label=_("Username"), max_length=60, validators=[validate_storable])
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.principal = principal

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        self.user = people_to_add(self.principal).filter(username=username).first()
        if self.user is None and self.principal.is_admin:
            raise ValidationError(_("No user with this username. Create one under People."))
        if self.user is None:
            raise ValidationError(
                _("No user of your teams has this username. Ask an admin of the organisation to add the person.")
            )
        return username


class RoleForm(forms.Form):
    """The form that changes the role of a member."""

    role = forms.ChoiceField(choices=Role.choices)


valid_username = RegexValidator(
    r"\A[\w.@+-]+\Z", _("Use letters, digits and the characters . @ + - _ only, without spaces.")
)


class NewPersonForm(forms.Form):
    """The form of a new account."""

    name = forms.CharField(label=_("Name"), help_text=_("Display name"), max_length=120)
    username = forms.CharField(
        label=_("Username"),
        help_text=_("Used to sign in; cannot be changed."),
        max_length=60,
        validators=[valid_username],
    )
    team = forms.ModelChoiceField(
        label=_("Team"),
        help_text=_("More teams can be added on the person's page."),
        queryset=Team.objects.none(),
        required=False,
        empty_label=_("No team yet"),
    )
    role = forms.ChoiceField(label=_("Role in the team"), choices=Role.choices, initial=Role.EDITOR, required=False)
    is_admin = forms.BooleanField(
        label=_("Admin of the organisation"),
        help_text=_("Has all permissions in all teams."),
        required=False,
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        managed = Team.objects.permitting(Action.MANAGE, principal).order_by("name")
        self.fields["team"].queryset = managed  # type: ignore[attr-defined]

    def clean_role(self) -> str:
        role: str = self.cleaned_data["role"]
        return role or Role.EDITOR


class PersonForm(forms.Form):
    """The form in which admins change an account. `without_admin` names the teams that may lose their only admin."""

    name = forms.CharField(label=_("Name"), max_length=120)
    is_admin = forms.BooleanField(
        label=_("Admin of the organisation"),
        help_text=_("Has all permissions in all teams."),
        required=False,
    )
    is_active = forms.BooleanField(
        label=_("Active"),
        help_text=_("Deactivating signs the user out immediately. Texts and roles are retained."),
        required=False,
    )
    without_admin = forms.TypedMultipleChoiceField(
        coerce=UUID,
        label=_("Teams without an admin"),
        help_text=_(
            "The person is the only admin of these teams. Make someone else an admin first, or "
            "select the teams: then only admins of the organisation can manage them."
        ),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *given: Any, administered_alone: Sequence[Team] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        if self.is_bound and administered_alone and not self.data.get("is_active"):
            self.fields["without_admin"].choices = [(str(team.id), team.name) for team in administered_alone]  # type: ignore[attr-defined]
        else:
            del self.fields["without_admin"]
