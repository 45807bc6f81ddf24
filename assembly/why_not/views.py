"""The page "Why not …?" has a search field, the answer, the ranking around the item, and remedies."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from assembly.access import assembly_for
from assembly.contexts.links import item_links
from assembly.records.reader import load_record
from assembly.why_not.answer import MAX_CHARACTERS
from assembly.why_not.answer import answer_why_not as why_not_found
from assembly.why_not.drafts import RemedyDrafts
from assembly.why_not.presentation import match_choices, missing_choices, why_not_page
from teams.access import principal_of


class WhyNotForm(forms.Form):
    """The form with search words, or with the ref of a chosen item and its section if it is in several."""

    q = forms.CharField(
        label=_("Item"),
        help_text=_("A name or a few words: a file, memory, day, event or entity. You can also paste an ID."),
        max_length=MAX_CHARACTERS,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    ref = forms.CharField(max_length=MAX_CHARACTERS, required=False, widget=forms.HiddenInput)
    section = forms.CharField(max_length=MAX_CHARACTERS, required=False, widget=forms.HiddenInput)

    @property
    def asks(self) -> bool:
        """Whether the form has a search text or a choice."""
        return self.is_valid() and any(self.cleaned_data[name].strip() for name in ("q", "ref"))


def why_not(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the page, with an answer if the form has a search text or a choice."""
    principal = principal_of(request)
    assembly = assembly_for(principal, id_)
    form = WhyNotForm(request.GET)
    facts: dict[str, object] = {"assembly": assembly, "form": form}
    if form.asks:
        asked = form.cleaned_data
        found = why_not_found(assembly, ref=asked["ref"], words=asked["q"], section=asked["section"])
        drafts = RemedyDrafts(found.told, item_links(request, assembly), principal)
        facts |= {"answer": why_not_page(found, drafts), "choices": match_choices(found.matches[1:])}
    else:
        facts |= {"choices": missing_choices(load_record(assembly))}
    return render(request, "assembly/why_not/why_not.html", facts, status=200 if form.is_valid() else 422)
