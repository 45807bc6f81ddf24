"""Template tags and filters for times, navigation and sizes of texts."""

import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma, naturaltime
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from teams.origin import Origin

register = template.Library()


@register.filter
def when(moment: datetime.datetime | None) -> str:
    """Format a time relative to now, with the exact time in the reader's zone as its tooltip."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.astimezone(datetime.UTC).isoformat(),
        f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S %Z}",
        "just now" if abs(timezone.now() - moment) < datetime.timedelta(seconds=5) else naturaltime(moment),
    )


@register.filter
def exactly(moment: datetime.datetime) -> str:
    """Format a time to the minute, in the reader's zone."""
    return format_html(
        '<time datetime="{}">{}</time>',
        moment.astimezone(datetime.UTC).isoformat(),
        f"{timezone.localtime(moment):%Y-%m-%d %H:%M %Z}",
    )


@register.filter
def by(signed: Any) -> str:
    """Return the name of the author of a file or version; “Dossier” for the system itself."""
    return signed.editor_name or "Dossier"


ORIGINS = {
    Origin.PERSON: gettext_lazy("A person wrote this text."),
    Origin.AGENT: gettext_lazy("An agent wrote this text, or an import stored it for the agent."),
    Origin.TOOL: gettext_lazy("A tool returned this text, or was given it."),
    Origin.EXTERNAL: gettext_lazy("This text comes from outside of the organisation."),
}
"""What the origins of texts mean, for people."""


@register.filter
def origin(name: str | None) -> SafeString:
    """Format the origin of a text as a tag, explained on hover and to screen readers; "" for an unknown one."""
    if name not in Origin.values:
        return SafeString("")
    known = Origin(name)
    html = '<span class="tag plain" title="{0}">{1}<span class="visually-hidden">. {0}</span></span>'
    return format_html(html, ORIGINS[known], gettext("from %(origin)s") % {"origin": known.label})


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], name: str, label: str, new: int = 0, also: str = "") -> SafeString:
    """Return a link of the main navigation, which is marked as current on all pages below its address.

    `new` is a number that stands behind the label, unless it is 0. `also` names a page without a link of its own, which
    belongs to this one.
    """
    address = _page_address(name, get_script_prefix())
    path = context["request"].path if "request" in context else ""
    own = (address, *([_page_address(also, get_script_prefix())] if also else ()))
    current = path == address or any(one != "/" and path.startswith(one) for one in own)
    return _navigation_link(address, str(label), intcomma(new) if new else "", current)


@lru_cache(maxsize=128)
def _page_address(name: str, _script_prefix: str) -> str:
    """Return the address of a page without arguments, which is always the same below one prefix."""
    return reverse(name)


@lru_cache(maxsize=512)
def _navigation_link(address: str, label: str, new: str, is_current: bool) -> SafeString:
    """Return a link of the main navigation, of which each page has more than twenty that are the same everywhere."""
    count = format_html(' <span class="count">{}</span>', new) if new else ""
    link = '<a href="{}"{}>{}{}</a>'
    return format_html(link, address, SafeString(' aria-current="page"') if is_current else "", label, count)


TERMS: dict[str, tuple[str | Promise, str | Promise]] = {
    "token": (
        gettext_lazy("What is a token?"),
        gettext_lazy("Models read text in tokens: pieces of words. A hundred English words are about 130 tokens."),
    ),
    "budget": (
        gettext_lazy("What is the budget?"),
        gettext_lazy("The most tokens that the whole context may have. Empty: as many as the profile allows."),
    ),
    "layer": (
        gettext_lazy("What is a layer?"),
        gettext_lazy(
            "Sections are grouped in seven layers, from L1 (who the agent is) to L7 (reference material). "
            "The text of a context begins with L1."
        ),
    ),
    "profile": (
        gettext_lazy("What is a profile?"),
        gettext_lazy("It says which sections a context has, how many tokens each may use, and how items are ranked."),
    ),
}
"""The question and the answer of each help text, by term."""


@register.inclusion_tag("_term.html")
def term(name: str) -> dict[str, Any]:
    """Return the values of a help button that explains a term; once per page and term."""
    question, answer = TERMS[name]
    return {"name": name, "question": question, "answer": answer}
