"""Template tags show how a text fits in a context, which contexts considered it, and the badges of warnings."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from assembly.contexts.layers import bar_width
from assembly.engine.reasons import warning_label
from assembly.engine.refs import Ref
from assembly.profiles.shipped import CONVERSATION
from assembly.records.warnings import shortage_sentence
from assembly.simulation.draft_preview.size import measure_text, rendered_with_cut
from assembly.sources.kinds import KINDS
from teams.text_diff.markdown import render_markdown
from teams.versioned_text.presentation import TextPage
from teams.versioned_text.versioned_file import Version

register = template.Library()
register.simple_tag(bar_width, name="width")
register.filter("shortage", shortage_sentence)


@register.inclusion_tag("assembly/simulation/draft_preview/_size.html")
def size_of(text: str, key: str) -> dict[str, Any]:
    """Return the values for the size of a text, measured against its section in the conversation profile."""
    measured = measure_text(text, key)
    return {
        "key": key,
        "measure": measured,
        "section": measured.section,
        "shared": measured.section.shape == "entries",
        "left": measured.room - measured.tokens,
        "width": bar_width(measured.tokens, measured.room),
        "budget": CONVERSATION.budget,
    }


@register.simple_tag
def rendered_for(text: str, key: str) -> SafeString:
    """Return the text as HTML, with a line where a context would cut it."""
    kept = measure_text(text, key).included_characters
    return render_markdown(text) if kept is None else rendered_with_cut(text, kept)


@register.simple_tag
def contexts_address(document: TextPage, version: Version) -> str:
    """Return the address of the list of contexts that considered the version; "" if contexts never consider it."""
    about = document.file.about
    if Ref.parse(about).kind not in KINDS:
        return ""
    return f"{reverse('context_list')}?{urlencode({'contains': f'{about}@{version.version}'})}"


@register.simple_tag
def draft_preview_address(document: TextPage) -> str:
    """Return the address of the page “What will the agents see?” of a file or daily log."""
    return f"{document.history_address.removesuffix('history/')}preview/"


register.filter("warning_label", warning_label)
