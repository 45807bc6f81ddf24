"""The validator of slugs, by which URLs, the API and archives name things."""

from django.core.validators import RegexValidator

MAX_SLUG_CHARACTERS = 60

valid_slug = RegexValidator(
    r"\A[a-z0-9]+(?:-[a-z0-9]+)*\Z",
    "Use lower-case letters, digits and single hyphens between them, as in customer-care.",
)
