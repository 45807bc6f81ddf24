"""This page asks for confirmation before something is deleted permanently. It works without scripts.

A view shows the page on GET, and deletes on POST.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from teams.guidance import Text
from teams.versioned_text.presentation import Crumb


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """The question, its consequences, and the two answers. `hidden` are values that are sent with the answer."""

    question: Text
    consequences: Sequence[Text]
    button: Text
    back: str
    crumbs: Sequence[Crumb] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    """The address to which the answer is sent; if empty, the page itself."""


def confirmation_page(request: HttpRequest, confirmation: Confirmation) -> HttpResponse:
    """Show the question. Nothing is changed."""
    return render(request, "teams/confirmation.html", {"confirmation": confirmation, "crumbs": confirmation.crumbs})
