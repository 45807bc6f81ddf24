"""Profiles and rules share these pages: validating a text, the history, a version, a comparison, restoring."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from assembly.profiles.documents import Row
from assembly.profiles.yaml_reader import MAX_CHARACTERS, UnreadableDocument, line_at
from teams.access import principal_of
from teams.guidance import Guidance, Text
from teams.principal import Principal
from teams.versioned_text import views
from teams.versioned_text.presentation import Crumb, SaveText, TextPage


@dataclass(frozen=True, slots=True)
class TextCheck:
    """The error in a text with its line; without a `fault` the text is valid."""

    fault: UnreadableDocument | None
    excerpt: str


@dataclass(frozen=True, kw_only=True)
class DocumentPages(Generic[Row]):
    """The pages of one kind of document. `kind` is the prefix of its URL names: rule_page, rule_edit."""

    kind: str
    plural: Text
    heading: Text
    """The heading of a version, with %(name)s in it."""
    guidance: Guidance
    fault_of: Callable[[str], UnreadableDocument | None]
    find: Callable[[Principal, str], Row]
    """A function that returns the stored row, to be read. Raises NotFound."""
    may_edit: Callable[[Principal, Row], bool]

    def paths(self) -> list[URLPattern]:
        """Return the URLs of the pages of versions."""
        history = f"{self.kind}s/<slug:name>/history/"
        return [
            path(history, self.history, name=f"{self.kind}_history"),
            path(f"{history}compare/", self.compare, name=f"{self.kind}_compare"),
            path(f"{history}<int:number>/", self.version, name=f"{self.kind}_version"),
        ]

    def check_text(self, sent: str) -> TextCheck:
        """Return the errors of a text that a browser sent."""
        text = sent[: MAX_CHARACTERS + 1].replace("\r\n", "\n")
        fault = self.fault_of(text)
        return TextCheck(fault, line_at(text, fault.line) if fault else "")

    @method_decorator(require_POST)
    def check(self, request: HttpRequest) -> HttpResponse:
        """Render the panel that says whether the text in the form is valid; nothing is stored."""
        check = self.check_text(request.POST.get("content", ""))
        return render(request, f"assembly/{self.kind}s/_check.html", {"check": check})

    def history(self, request: HttpRequest, name: str) -> HttpResponse:
        """Show all versions of a document, newest first."""
        return views.history(request, self._page(request, self._row(request, name)))

    def version(self, request: HttpRequest, name: str, number: int) -> HttpResponse:
        """Show a version of a document as source."""
        return views.version(request, self._page(request, self._row(request, name)), number)

    def compare(self, request: HttpRequest, name: str) -> HttpResponse:
        """Show the difference of two versions of a document."""
        return views.compare(request, self._page(request, self._row(request, name)))

    def restore(self, request: HttpRequest, row: Row, number: int, save: SaveText) -> HttpResponse:
        """Restore a version of a document that the person may edit, if its text is still valid."""
        return views.restore(request, self._page(request, row), number, save)

    def _row(self, request: HttpRequest, name: str) -> Row:
        return self.find(principal_of(request), name)

    def _page(self, request: HttpRequest, row: Row) -> TextPage:
        address = reverse(f"{self.kind}_page", args=[row.name])
        return TextPage(
            file=row,
            guidance=self.guidance,
            key=row.name,
            heading=str(self.heading) % {"name": row.name},
            crumbs=(Crumb(self.plural, reverse(f"{self.kind}_list")), Crumb(row.name, address)),
            readers="",
            edit_address=reverse(f"{self.kind}_edit", args=[row.name]),
            history_address=reverse(f"{self.kind}_history", args=[row.name]),
            may_edit=self.may_edit(principal_of(request), row),
            is_markdown=False,
        )
