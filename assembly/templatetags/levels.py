"""A template tag shows in which forms, by level of detail, agents may get the texts of an item, with tokens each."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

from assembly.contexts.level_presentation import highest_sent_word, levelled_texts
from assembly.sources.level_texts import offered_texts

register = template.Library()

MAX_TEXTS = 20
"""The most texts of an item, which are passages of a document or a file, whose forms its page shows."""


@register.inclusion_tag("assembly/contexts/_levels.html")
def levels_of_item(row: Any) -> dict[str, Any]:
    """Return the values for the forms of the first texts of a memory, document, file or log; of others, there are none.

    Several texts of one item are titled by their lines.
    """
    offered = [one for one in offered_texts(row) if one.text.strip()]
    titled = [
        (_("Line %(number)s") % {"number": one.line} if len(offered) > 1 else "", one.text)
        for one in offered[:MAX_TEXTS]
    ]
    return {
        "texts": levelled_texts(titled),
        "more": len(offered) > MAX_TEXTS,
        "most": MAX_TEXTS,
        "kept_back_above": highest_sent_word(row),
    }
