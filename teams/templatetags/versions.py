"""How pages say when a version was made, by how much it grew, and what differs in it."""

import datetime
import re

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from teams.text_diff import markdown
from teams.text_diff.difference import DiffRun

register = template.Library()

_BLANKS = str.maketrans({" ": "·", "\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽"})
_LINE_END = re.compile(r"\r?\n\Z")


@register.filter
def exactly(moment: datetime.datetime) -> str:
    """A time to the minute, for those who need to know more than “3 days ago”."""
    utc = moment.astimezone(datetime.UTC)
    return format_html('<time datetime="{}">{}</time>', utc.isoformat(), f"{utc:%Y-%m-%d %H:%M} UTC")


@register.filter
def growth(words: int) -> str:
    """By how many words a version is longer than the one before: “+120 words”."""
    if not words:
        return _("same length")
    sign = "+" if words > 0 else "−"  # noqa: RUF001 - a minus, as wide as the plus
    count = abs(words)
    return ngettext("%(count)s word", "%(count)s words", count) % {"count": f"{sign}{count:,}"}


@register.filter
def shown(text: str) -> str:
    """The text, with what cannot be seen in it made visible."""
    return markdown.show_controls(text)


@register.filter
def change_sign(kind: str) -> SafeString:
    """Return what begins a line of a difference: a sign for eyes, and a word for ears where the line is old or new."""
    signs = {"removed": ("\N{MINUS SIGN}", _("Before:")), "added": ("+", _("Now:"))}
    if kind not in signs:
        return mark_safe('<span class="sign" aria-hidden="true"></span>')
    html = '<span class="sign" aria-hidden="true">{}</span><span class="visually-hidden">{} </span>'
    return format_html(html, *signs[kind])


@register.filter
def marked(run: DiffRun) -> SafeString:
    """A run of words, marked for eyes and ears if it was removed or added. Blanks that changed alone have signs."""
    if not run.changed:
        return mark_safe(escape(markdown.show_controls(run.text)))  # noqa: S308 - just escaped
    words = run.text.translate(_BLANKS) if run.text.isspace() else _LINE_END.sub("", run.text)
    element, said = ("del", _("removed:")) if run.kind == "removed" else ("ins", _("added:"))
    return format_html(
        '<{0}><span class="visually-hidden">[{1} </span>{2}<span class="visually-hidden">]</span></{0}>',
        element,
        said,
        markdown.show_controls(words),
    )
