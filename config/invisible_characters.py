"""Invisible characters are removed from texts before they are stored.

A text can hide words from people that a language model reads all the same: as Unicode tag characters, between
characters of no width, or by controls that change the order in which a line is displayed. Removed are the characters
with the Unicode properties Default_Ignorable_Code_Point and Bidi_Control, and annotation controls. Some of them are
part of how a language or a symbol is written, and stay in their places, one at a time:

- the zero-width joiner and non-joiner after a letter of scripts with joined letters or conjuncts, as Persian and Hindi
  use them, and the joiner in emoji sequences, such as families;
- the zero-width space between letters of scripts without spaces (Thai, Lao, Khmer, Burmese …);
- variation selectors after a symbol, a digit, punctuation or a Han character; Mongolian ones after a Mongolian letter;
- Hangul fillers beside Jamo;
- the tag characters of the flags of England, Scotland and Wales.

Soft hyphens, word joiners, byte order marks and marks of direction go: words are read without them.
"""

import re
from typing import Any

from config.text_changes import current_text_changes

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINED = (
    "\u0600-\u061b\u061d-\u08ff"  # Arabic, Syriac, Thaana, N'Ko, Mandaic
    "\u0900-\u0dff\u0f00-\u109f\u1700-\u17b3\u17b6-\u180a\u1810-\u1cff"  # Indic, Tibetan, Burmese, Khmer, Mongolian …
    "\ua800-\ua8ff\ua930-\ua95f\ua980-\ua9ff\uaa00-\uaaff\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010a5f\U00010ac0-\U00010aff\U00011000-\U0001173f\U0001e900-\U0001e95f"
)
"""Scripts in which a joiner or non-joiner chooses the form of a letter or conjunct."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
_PICTURES = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_HAN = "\u2e80-\u2fff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_STYLED = f"{_PICTURES}#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2000-\u200a\u2010-\u2027\u2030-\u205e\u2100-\u214f"
"""Characters with a text and an emoji style, or with another variant: symbols, digits and punctuation."""
_JAMO = "\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff"
_FLAGS = [
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
]


def _within_flags() -> list[str]:
    """Return a pattern for each tag character of a flag, in its place in the flag."""
    places = [(flag, place) for flag in _FLAGS for place in range(1, len(flag))]
    return [f"{flag[place]}(?<={flag[: place + 1]})(?={flag[place + 1 :]})" for flag, place in places]


_NEEDED = [
    f"\u200c(?<=[{_JOINED}].)(?=[{_JOINED}])",
    f"\u200d(?<=[{_JOINED}].)(?![{_INVISIBLE}])",
    f"\u200d(?<=[{_PICTURES}].)(?=[{_PICTURES}])",
    f"\u200d(?<=[{_PICTURES}]\ufe0f.)(?=[{_PICTURES}])",
    f"\u200b(?<=[{_UNSPACED}].)(?=[{_UNSPACED}])",
    f"[\ufe0e\ufe0f](?<=[{_STYLED}].)",
    f"[\ufe00-\ufe02](?<=[{_HAN}\u1000-\u109f\ua840-\ua877\u2200-\u22ff\u3000-\u303f\uff00-\uff5e0].)",
    f"[\U000e0100-\U000e01ef](?<=[{_HAN}].)",
    "[\u180b-\u180f](?<=[\u1820-\u18aa].)",
    f"[\u115f\u1160](?<=[{_JAMO}].)",
    f"[\u115f\u1160](?=[{_JAMO}])",
    *_within_flags(),
]
"""Patterns of one character each: what stays, with what must stand before and after it."""

_REMOVED = re.compile(f"[{_INVISIBLE}](?<!{'|'.join(f'(?:{needed})' for needed in _NEEDED)})")


def remove_invisible(text: str) -> str:
    """Return the text without invisible characters, except those that its language or symbols need where they stand."""
    return text if text.isascii() else _REMOVED.sub("", text)


def is_blank(text: str) -> bool:
    """Return whether nothing of the text can be seen: it has only white space and invisible characters."""
    return not text.strip() or not remove_invisible(text).strip()


def clean_text(text: str) -> str:
    """Return the text as it is stored: without invisible characters, which are counted for the current request."""
    cleaned = remove_invisible(text)
    if len(cleaned) < len(text):
        current_text_changes().removed_characters += len(text) - len(cleaned)
    return cleaned


def clean_value(value: Any) -> Any:
    """Return the JSON value with all its texts cleaned, names included; other values are returned as they are."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_value(item) for item in value]
    if isinstance(value, dict):
        return _clean_object(value)
    return value


def _clean_object(value: dict[Any, Any]) -> dict[Any, Any]:
    cleaned: dict[Any, Any] = {}
    for name, item in value.items():
        shown = clean_value(name)
        while shown in cleaned:  # two names that differed in invisible characters alone: neither value is lost
            shown += "_"
        cleaned[shown] = clean_value(item)
    return cleaned
