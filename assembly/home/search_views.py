"""The page of the search over everything; the dialog on every page loads its results."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from assembly.contexts.search.db import SearchTooBroad
from assembly.home.global_search import MAX_CHARACTERS, search_everything
from teams.access import principal_of
from teams.forms import validate_storable

MIN_CHARACTERS = 2


class GlobalSearchForm(forms.Form):
    """The search field."""

    q = forms.CharField(
        label=_("Search"),
        help_text=_("Agents, teams, files, memories, days, contexts, rules, people and actions"),
        max_length=MAX_CHARACTERS,
        required=False,
        validators=[validate_storable],
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )


def global_search(request: HttpRequest) -> HttpResponse:
    """Show what matches the words; with htmx, the results alone."""
    form = GlobalSearchForm(request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    facts: dict[str, object] = {"form": form, "words": words, "groups": []}
    if len(words) >= MIN_CHARACTERS:
        try:
            facts["groups"] = search_everything(principal_of(request), words)
        except SearchTooBroad:
            facts["too_broad"] = True
    page = "_results" if request.headers.get("HX-Request") else "search"
    return render(request, f"assembly/home/search/{page}.html", facts, status=200 if form.is_valid() else 422)
