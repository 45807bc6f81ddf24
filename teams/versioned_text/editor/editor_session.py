"""A text on somebody's desk: what every deed of the editor needs."""

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
    """Who writes, at which text, and how a version is made of it."""

    request: HttpRequest
    document: TextPage
    publish: SaveText

    @property
    def person(self) -> UUID:
        """The id of who writes."""
        return principal_of(self.request).id

    @property
    def about(self) -> str:
        """What names the text, as its draft is found by it."""
        return self.document.file.about

    @property
    def published(self) -> int:
        """The version that everybody sees; 0 where there is none yet."""
        return self.document.file.version if self.document.exists else 0

    @property
    def address(self) -> str:
        """Of the editor."""
        return self.document.edit_address

    @property
    def expects_json(self) -> bool:
        """Whether a script of the page asks, which wants JSON."""
        return "application/json" in self.request.headers.get("Accept", "")

    def draft(self) -> Draft | None:
        """What the person has written and not published."""
        return draft_of(self.person, self.about)

    def form(self) -> DraftForm:
        """The text as it was sent."""
        return DraftForm(self.request.POST, stored=self.document.file, person=self.person)

    def matches_published(self, form: DraftForm) -> bool:
        """Whether the text that was sent differs in nothing from what everybody sees."""
        sent: dict[str, Any] = form.cleaned_data
        return bool(sent["version"] == self.published and sent["content"] == self.document.file.content)

    def stored(self, form: DraftForm) -> Draft:
        """The text that was sent as the person's draft. Raises StaleDraft."""
        sent = form.cleaned_data
        return draft_save(
            person_id=self.person,
            about=self.about,
            content=sent["content"],
            based_on=sent["version"],
            expected_revision=sent["revision"],
            keeping=sent["keeping"],
        )
