"""How pages say things: times, navigation, sizes of texts."""

import datetime
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def when(moment: datetime.datetime | None) -> str:
    """A time as people say it, with the exact one for those who point at it."""
    if moment is None:
        return ""
    utc = moment.astimezone(datetime.UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        utc.isoformat(),
        f"{utc:%Y-%m-%d %H:%M:%S} UTC",
        "just now" if abs(timezone.now() - moment) < datetime.timedelta(seconds=5) else naturaltime(moment),
    )


@register.filter
def by(signed: Any) -> str:
    """Who made the current state of a file, or a version: nobody in particular is Dossier itself."""
    return signed.editor_name or "Dossier"


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], name: str, label: str) -> SafeString:
    """A link of the main navigation; it is the current one on all pages below its address."""
    address = reverse(name)
    path = context["request"].path if "request" in context else ""
    current = path == address or (address != "/" and path.startswith(address))
    return format_html('<a href="{}"{}>{}</a>', address, SafeString(' aria-current="page"') if current else "", label)
