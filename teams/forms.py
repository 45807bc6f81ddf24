"""Forms of teams, members, accounts, and of every versioned text."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from teams.models import Team, valid_slug
from teams.principal import Principal, Role
from teams.services import people_to_add
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, MAX_NOTE_CHARACTERS, VersionedFile

SURROGATE = re.compile("[\ud800-\udfff]")


def validate_storable(text: str) -> None:
    """Raises ValidationError for characters that no text can hold."""
    if SURROGATE.search(text):
        raise ValidationError(_("There are broken characters in this text. Type or paste it anew."), code="surrogate")


def match_line_endings(text: str, stored: str) -> str:
    """The text as a browser sent it, with the line ends that the stored one has.

    Browsers send CRLF, whatever was in the page. Where nothing but line ends differs, the stored text itself is given
    back, so that opening and saving changes no byte.
    """
    plain = normalise_line_endings(text)
    if plain == normalise_line_endings(stored):
        return stored
    return plain.replace("\n", "\r\n") if "\r\n" in stored else plain


def normalise_line_endings(text: str) -> str:
    """The text with every line end as a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class TextForm(forms.Form):
    """A text, and the version it was made from (0: there is none yet)."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    content = forms.CharField(required=False, strip=False, validators=[validate_storable])

    def __init__(self, *args: Any, stored: VersionedFile, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored = stored

    def clean_content(self) -> str:
        content = match_line_endings(self.cleaned_data["content"], self.stored.content)
        if len(content) > MAX_FILE_CHARACTERS:
            raise ValidationError(
                _("This text has %(has)s characters; at most %(most)s fit. Shorten it or move a part elsewhere."),
                code="too_long",
                params={"has": f"{len(content):,}", "most": f"{MAX_FILE_CHARACTERS:,}"},
            )
        return content


class DraftForm(TextForm):
    """A text in the making: the revision of the draft that it goes on from, and who wrote it.

    The page names its person, because somebody else may sign in in the same browser while it is open.
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
                _("Somebody else has signed in in this browser. Sign in as yourself to keep your text."),
                code="other_person",
            )
        return person


class PublishForm(forms.Form):
    """A draft as it was looked at, and what its author says of the change."""

    revision = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    note = forms.CharField(
        label=_("What did you change?"),
        help_text=_("One line for the history, as “New date for the demo”."),
        required=False,
        max_length=MAX_NOTE_CHARACTERS,
        validators=[validate_storable],
    )


class NamedForm(forms.Form):
    """A name, and an address that is made from it unless given."""

    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Short name for addresses"),
        help_text=_("Lower-case letters, digits and hyphens. Left empty, it is made from the name."),
        max_length=60,
        required=False,
        validators=[valid_slug],
    )

    def clean(self) -> dict[str, Any]:
        values = {**self.cleaned_data}
        if not values.get("slug") and "slug" not in self.errors and "name" in values:
            values["slug"] = slugify(values["name"]).replace("_", "-").strip("-")[:60].strip("-")
            if not values["slug"]:
                self.add_error("slug", _("No short name can be made from this name. Choose one."))
        return values


class TeamForm(NamedForm):
    """A new team."""


class TeamSettingsForm(forms.Form):
    """A team's name and what its agents may do, as they were at a version."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    name = forms.CharField(label=_("Name"), max_length=120)
    agents_may_change_texts = forms.BooleanField(
        label=_("Agents may change what people wrote"),
        help_text=_(
            "With their keys, agents may then change, merge, pin, retire and delete the team's memories that people "
            "wrote, and change its files and rules where the key may write them. What agents wrote, they may always."
        ),
        required=False,
    )


class DeletionForm(forms.Form):
    """Says by typing its short name that something shall go for good."""

    typed = forms.CharField(max_length=60)

    def __init__(self, *args: Any, slug: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = slug
        self.fields["typed"].label = _("To delete it, type its short name: %(slug)s") % {"slug": slug}
        self.fields["typed"].widget.attrs["autocomplete"] = "off"

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed != self.slug:
            raise ValidationError(_("This is not its short name. Nothing was deleted."), code="other")
        return typed


class MemberForm(forms.Form):
    """Somebody to be added to a team."""

    username = forms.CharField(label=_("Username"), max_length=60, validators=[validate_storable])
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.principal = principal

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        self.user = people_to_add(self.principal).filter(username=username).first()
        if self.user is None and self.principal.is_admin:
            raise ValidationError(_("Nobody here has this username. Make an account for the person under People."))
        if self.user is None:
            raise ValidationError(
                _("Nobody in your teams has this username. Ask an admin of the organisation to add the person.")
            )
        return username


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=Role.choices)


valid_username = RegexValidator(
    r"\A[\w.@+-]+\Z", _("Use letters, digits and the characters . @ + - _ only, without spaces.")
)


class NewPersonForm(forms.Form):
    """A new account."""

    name = forms.CharField(label=_("Name"), help_text=_("As colleagues know the person."), max_length=120)
    username = forms.CharField(
        label=_("Username"),
        help_text=_("For signing in. It cannot be changed later."),
        max_length=60,
        validators=[valid_username],
    )
    is_admin = forms.BooleanField(
        label=_("Admin of the organisation"),
        help_text=_("Sees and may do everything, in all teams."),
        required=False,
    )


class PersonForm(forms.Form):
    """Changes of an account by admins. When the only admin of teams is switched off, `without_admin` asks of each."""

    name = forms.CharField(label=_("Name"), max_length=120)
    is_admin = forms.BooleanField(
        label=_("Admin of the organisation"),
        help_text=_("Sees and may do everything, in all teams."),
        required=False,
    )
    is_active = forms.BooleanField(
        label=_("May sign in"),
        help_text=_("Who may not is signed out at once. What the person wrote stays, and so do the roles in teams."),
        required=False,
    )
    without_admin = forms.TypedMultipleChoiceField(
        coerce=UUID,
        label=_("Teams that will have no admin"),
        help_text=_(
            "The person is the only admin of these teams. Make somebody else an admin of each first, or tick it: then "
            "only admins of the organisation can manage it, until they name an admin."
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
