"""The page that asks before something is deleted for good. It works without scripts: the deletion itself is a POST.

A view shows it to GET, and deletes on POST.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from teams.guidance import Text
from teams.versioned_text.presentation import Crumb


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """The question, the consequences and the two ways out. `hidden` is sent along with the answer."""

    question: Text
    consequences: Sequence[Text]
    button: Text
    back: str
    crumbs: Sequence[Crumb] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    """Where the answer is sent; empty: to the page itself."""


def confirmation_page(request: HttpRequest, confirmation: Confirmation) -> HttpResponse:
    """Ask whether it shall go. Nothing is changed."""
    return render(request, "teams/confirmation.html", {"confirmation": confirmation, "crumbs": confirmation.crumbs})
