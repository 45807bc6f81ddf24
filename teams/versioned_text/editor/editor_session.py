"""An editor session bundles what every action of the editor needs."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from teams.access import principal_of
from teams.forms import DraftForm
from teams.versioned_text.drafts import Draft, draft_of, draft_save
from teams.versioned_text.presentation import SaveText, TextPage


@dataclass(frozen=True, slots=True)
class EditorSession:
    """A request to the editor: the text, its author, and a function that publishes it."""

    request: HttpRequest
    document: TextPage
    publish: SaveText

    @property
    def person(self) -> UUID:
        """The id of the person who writes."""
        return principal_of(self.request).id

    @property
    def about(self) -> str:
        """The ref of the text, which is also stored in its draft."""
        return self.document.file.about

    @property
    def published(self) -> int:
        """The number of the published version; 0 if there is none yet."""
        return self.document.file.version if self.document.exists else 0

    @property
    def address(self) -> str:
        """The address of the editor."""
        return self.document.edit_address

    @property
    def expects_json(self) -> bool:
        """Whether a script of the page sent the request and expects JSON."""
        return "application/json" in self.request.headers.get("Accept", "")

    def draft(self) -> Draft | None:
        """Return the person's draft of the text."""
        return draft_of(self.person, self.about)

    def form(self) -> DraftForm:
        """Return the form with the text that was sent."""
        return DraftForm(self.request.POST, stored=self.document.file, person=self.person)

    def matches_published(self, form: DraftForm) -> bool:
        """Return whether the text that was sent equals the published one."""
        sent: dict[str, Any] = form.cleaned_data
        return bool(sent["version"] == self.published and sent["content"] == self.document.file.content)

    def stored(self, form: DraftForm) -> Draft:
        """Save the text that was sent as the person's draft. Raises StaleDraft."""
        sent = form.cleaned_data
        return draft_save(
            person_id=self.person,
            about=self.about,
            content=sent["content"],
            based_on=sent["version"],
            expected_revision=sent["revision"],
            keeping=sent["keeping"],
        )
