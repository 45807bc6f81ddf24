"""Slugs name things in URLs, in the API and in archives: this module validates them, and derives them from names."""

import re

from django.core.validators import RegexValidator
from django.utils.text import slugify

MAX_SLUG_CHARACTERS = 60

SLUG = r"\A[a-z0-9]+(?:-[a-z0-9]+)*\Z"

valid_slug = RegexValidator(
    SLUG,
    "Use lower-case letters, digits and single hyphens between them, as in customer-care.",
)


def derive_slug(name: str) -> str:
    """Return a slug for something with this name; "" if the name has no letter or digit that a slug can have."""
    return slugify(name).replace("_", "-").strip("-")[:MAX_SLUG_CHARACTERS].strip("-")


def is_slug(text: str) -> bool:
    """Return whether the text is a slug."""
    return len(text) <= MAX_SLUG_CHARACTERS and re.match(SLUG, text) is not None
