"""Parts that a page of a context repeats hundreds of times are written in Python, which is faster than a template."""

from collections.abc import Iterable

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from assembly.contexts.exact_text import Run
from assembly.contexts.page import LinkedPart
from assembly.contexts.scores import ScorePart

register = template.Library()

CUT_HTML = '<mark class="cut">{}</mark>'
LINKED_PART_HTML = '<span class="told"{}>{}{}{}</span>'
ANCHOR_ATTRIBUTES = ' id="text-{}" tabindex="-1"'
SIGN = '<a class="sign {}" href="{}" aria-label="{}"></a>'
SHARE = '<tr><th scope="row">{} <span class="of">{}</span></th><td>{}</td><td class="num">{}</td></tr>'
BAR = (
    '<svg class="part{}" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">'
    '<rect width="{}" height="8"/></svg>'
)
NOTHING = SafeString("")


@register.filter
def cuts_marked(runs: Iterable[Run]) -> SafeString:
    """Return the text as HTML, with the truncation markers highlighted."""
    return SafeString("".join([format_html(CUT_HTML, text) if is_mark else escape(text) for text, is_mark in runs]))


@register.filter
def signed(part: LinkedPart) -> SafeString:
    """Return a part of the text as HTML; an item gets a link to the reason for its inclusion and one to its version."""
    text = cuts_marked(part.runs)
    if part.position is None:
        return text
    place = format_html(ANCHOR_ATTRIBUTES, part.position) if part.begins else NOTHING
    why = format_html(SIGN, "why-in", part.item_address, part.item_label) if part.item_address else NOTHING
    source = format_html(SIGN, "source", part.source_address, part.source_label) if part.source_address else NOTHING
    return format_html(LINKED_PART_HTML, place, why, text, source)


@register.filter
def score_rows(parts: Iterable[ScorePart]) -> SafeString:
    """Return the rows of a table of the parts of a score, as HTML."""
    return format_html_join("\n", SHARE, ((part.label, part.measured, _bar(part), part.counted) for part in parts))


def _bar(part: ScorePart) -> SafeString:
    # Nothing in it is a text of anybody's, so nothing has to be escaped.
    return SafeString(BAR.format(" against" if part.against else "", part.width)) if part.width else NOTHING
