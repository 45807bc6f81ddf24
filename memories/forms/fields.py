"""These form fields hold values that Django's fields do not: lists, properties and JSON."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from config.http.serializers import SEVERAL_LINES
from memories.services.json_values import json_problem
from teams.forms import match_line_endings, validate_storable

MAX_LIST_ITEMS = 50


def validate_one_line(text: str) -> None:
    """Raise ValidationError for line breaks and control characters."""
    if SEVERAL_LINES.search(text):
        raise ValidationError(_("Use one line, without line breaks and control characters."), code="several_lines")


class Line(forms.CharField):
    """A field for a text of one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"validators": [validate_storable, validate_one_line], **options})


class Text(forms.CharField):
    """A field for a text of several lines; line ends are converted to line feeds."""

    def __init__(self, *, rows: int = 6, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows})
        super().__init__(**{"widget": widget, "max_length": 20_000, "validators": [validate_storable], **options})

    def to_python(self, value: Any) -> str:
        return match_line_endings(super().to_python(value) or "", "")


class Lines(Text):
    """A field for a list of short texts, one per line."""

    def __init__(self, *, longest: int, **options: Any) -> None:
        super().__init__(**{"rows": 3, **options})
        self.longest = longest

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        lines = list(dict.fromkeys(line.strip() for line in super().clean(value).split("\n") if line.strip()))
        if len(lines) > MAX_LIST_ITEMS:
            raise ValidationError(_("Use at most %(most)s lines."), params={"most": MAX_LIST_ITEMS})
        for line in lines:
            validate_one_line(line)
            if len(line) > self.longest:
                raise ValidationError(
                    _("“%(start)s…” is too long: use at most %(most)s characters in a line."),
                    params={"start": line[:30], "most": self.longest},
                )
        return lines


class Properties(Text):
    """A field for names with values, one pair per line: `port: 8080`. Numbers, true, false and null keep their type."""

    def prepare_value(self, value: Any) -> Any:
        return (
            "\n".join(f"{_format_key(key)}: {_format_value(one)}" for key, one in value.items())
            if isinstance(value, dict)
            else value
        )

    def clean(self, value: Any) -> Any:
        lines = [line for line in super().clean(value).split("\n") if line.strip()]
        if len(lines) > MAX_LIST_ITEMS:
            raise ValidationError(_("Use at most %(most)s lines."), params={"most": MAX_LIST_ITEMS})
        found = dict(_parse_pair(line) for line in lines)
        validate_json(found)
        return found


class JsonObject(Text):
    """A field for a JSON object."""

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, dict) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value).strip()
        if not text:
            return {}
        found = _parse_json(text)
        if not isinstance(found, dict):
            raise ValidationError(_("Write a JSON object: names and values between { and }."), code="json")
        validate_json(found)
        return found


def validate_json(value: Any) -> None:
    """Raise ValidationError for a value that PostgreSQL's jsonb cannot store."""
    if fault := json_problem(value):
        raise ValidationError(fault, code="json")


def _parse_json(text: str) -> Any:
    """Return the parsed JSON value. Raises ValidationError."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValidationError(
            _("Invalid JSON: see line %(line)s, column %(column)s."),
            params={"line": error.lineno, "column": error.colno},
        ) from None
    except (ValueError, RecursionError):
        raise ValidationError(_("The JSON has a number that cannot be stored, or is nested too deeply.")) from None
    return found


def _format_key(key: str) -> str:
    plain = key and key == key.strip() and ":" not in key and key[0] != '"' and not SEVERAL_LINES.search(key)
    return key if plain else json.dumps(key, ensure_ascii=False)


def _format_value(value: Any) -> str:
    if (
        isinstance(value, str)
        and _parse_value(value) == value
        and value == value.strip()
        and not SEVERAL_LINES.search(value)
    ):
        return value
    return json.dumps(value, ensure_ascii=False)


def _parse_value(text: str) -> Any:
    """Return the JSON value of the text (a number, true, false, null, "quoted"), or the text itself if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def _parse_pair(line: str) -> tuple[str, Any]:
    quoted = line.lstrip().startswith('"')
    try:
        key, end = json.JSONDecoder().raw_decode(line.lstrip()) if quoted else (line.partition(":")[0].strip(), 0)
    except ValueError:
        key, end = "", 0
    rest = line.lstrip()[end:].lstrip() if quoted else line[line.find(":") :]
    if not key or not isinstance(key, str) or not rest.startswith(":"):
        raise ValidationError(_("Write each line as “name: value”. See “%(line)s”."), params={"line": line[:60]})
    value = _parse_value(rest[1:].strip())
    if isinstance(value, dict | list):
        raise ValidationError(_("A value is a text, a number, true or false. See “%(key)s”."), params={"key": key[:60]})
    return key, value
