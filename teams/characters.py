"""Characters that cannot be seen, or that turn the order of others around, made visible."""

import re

# Controls but for tab and line ends, overrides and isolates of writing direction, spaces of no width, and the tags that
# spell hidden words. Marks that writing needs (joiners, left-to-right marks) stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """The text with such characters as their numbers, like [U+202E]: agents read them, so people should see them."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)
