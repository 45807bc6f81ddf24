"""Template filters that format versions: time, growth in words, and differences."""

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
def growth(words: int) -> str:
    """Format by how many words a version is longer than the previous one: “+120 words”."""
    if not words:
        return _("same length")
    sign = "+" if words > 0 else "−"  # noqa: RUF001 - a minus, as wide as the plus
    count = abs(words)
    return ngettext("%(count)s word", "%(count)s words", count) % {"count": f"{sign}{count:,}"}


@register.filter
def shown(text: str) -> str:
    """Return the text with its invisible characters made visible."""
    return markdown.show_controls(text)


@register.filter
def change_sign(kind: str) -> SafeString:
    """Return the sign at the beginning of a line of a difference, with a word for screen readers if the line is old or
    new.
    """
    signs = {"removed": ("\N{MINUS SIGN}", _("Before:")), "added": ("+", _("Now:"))}
    if kind not in signs:
        return mark_safe('<span class="sign" aria-hidden="true"></span>')
    html = '<span class="sign" aria-hidden="true">{}</span><span class="visually-hidden">{} </span>'
    return format_html(html, *signs[kind])


@register.filter
def marked(run: DiffRun) -> SafeString:
    """Format a run of words, with marks for sighted readers and screen readers if it was removed or added.

    White space that alone changed is shown as signs.
    """
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
