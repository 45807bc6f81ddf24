"""Template tags show how a text fits in a context, which contexts considered it, and the badges of warnings."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from assembly.contexts.layers import bar_width
from assembly.engine.profile import Profile
from assembly.engine.reasons import warning_label
from assembly.engine.refs import Ref
from assembly.profiles.catalogue import profile_of_agent
from assembly.records.warnings import shortage_sentence
from assembly.simulation.draft_preview.size import (
    measure_searched_text,
    measure_text,
    rendered_with_cut,
)
from assembly.sources.kinds import KINDS
from teams.organisation.models import ORGANISATION_TEXT
from teams.text_diff.markdown import render_markdown
from teams.versioned_text.presentation import TextPage
from teams.versioned_text.versioned_file import Version

register = template.Library()
register.simple_tag(bar_width, name="width")
register.filter("shortage", shortage_sentence)


@register.inclusion_tag("assembly/simulation/draft_preview/_size.html")
def size_of(text: str, document: TextPage) -> dict[str, Any]:
    """Return the values for the size of the text of a document, measured against its section of the agent's profile."""
    return size_panel(text, document.key, _profile_of(document))


def size_panel(text: str, key: str, profile: Profile) -> dict[str, Any]:
    """Return the values for the size of a text, measured against the profile's section for texts with this key.

    A text of the organisation is measured by itself.
    """
    if key == ORGANISATION_TEXT:
        searched = measure_searched_text(text)
        return {"key": key, "profile": profile.name, "words": searched.words, "searched": searched}
    measured = measure_text(text, key, profile)
    return {
        "key": key,
        "profile": profile.name,
        "words": measured.words,
        "measure": measured,
        "section": measured.section,
        "shared": measured.section.shape == "entries",
        "capped": measured.section.cap_within(profile.budget) is not None,
        "left": measured.room - measured.tokens,
        "width": bar_width(measured.tokens, measured.room),
        "budget": profile.budget,
    }


def _profile_of(document: TextPage) -> Profile:
    """Return the profile of the agent that the text belongs to; of a team's file, the default."""
    return profile_of_agent(getattr(document.file, "agent", None))


@register.simple_tag
def rendered_for(text: str, document: TextPage) -> SafeString:
    """Return the text as HTML, with a line where a context would cut it."""
    if document.key == ORGANISATION_TEXT:
        return render_markdown(text)
    kept = measure_text(text, document.key, _profile_of(document)).included_characters
    return render_markdown(text) if kept is None else rendered_with_cut(text, kept)


@register.simple_tag
def contexts_address(document: TextPage, version: Version) -> str:
    """Return the address of the list of contexts that include the version; "" if contexts never include such texts."""
    ref = Ref.parse(document.file.ref)
    if ref.kind not in KINDS:
        return ""
    return f"{reverse('context_list')}?{urlencode({'included_ref': f'{ref.item}@{version.version}'})}"


@register.simple_tag
def draft_preview_address(document: TextPage) -> str:
    """Return the address of the page “What will the agents see?” of a file or daily log."""
    return f"{document.history_address.removesuffix('history/')}preview/"


register.filter("warning_label", warning_label)
