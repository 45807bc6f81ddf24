"""Placeholders stand for personal data in a context: `[e-mail 1]`, the same for the same value wherever it occurs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from django.utils.crypto import salted_hmac
from msgspec import structs

from assembly.engine.types import Candidate
from assembly.masking.network_addresses import canonical_ip_address
from assembly.masking.phone_numbers import canonical_phone_number
from assembly.masking.recognition import find_personal_data
from assembly.masking.spans import SEPARATORS, Kind, Span

NAMES: dict[Kind, str] = {
    "email": "e-mail",
    "phone": "phone",
    "iban": "IBAN",
    "card": "card",
    "ip": "IP address",
    "national_id": "identity number",
    "tax_id": "tax number",
}
FINGERPRINT_DIGITS = 24
PLACEHOLDER = re.compile(rf"\[({'|'.join(NAMES.values())}) (\d{{1,6}})\]")


def normalised_value(kind: str, value: str) -> str:
    """Return the value without separators, unless they are a part of it."""
    return value.lower() if kind in {"email", "ip"} else SEPARATORS.sub("", value).upper()


def canonical_value(kind: Kind, value: str) -> str:
    """Return the value so that all spellings of it are equal; of a phone number without the prefix of a country, those
    with other separators alone.
    """
    if kind == "ip":
        return canonical_ip_address(value)
    return canonical_phone_number(value) if kind == "phone" else normalised_value(kind, value)


def fingerprint_of(kind: Kind, canonical: str) -> str:
    """Return the beginning of a keyed hash of a value: whoever does not have SECRET_KEY cannot try values."""
    return salted_hmac("assembly.masking", f"{kind} {canonical}", algorithm="sha256").hexdigest()[:FINGERPRINT_DIGITS]


class Masker:
    """The placeholders of one context. Numbers rise in the order in which values are seen, from 1 for each kind."""

    def __init__(self, masked_texts: Iterable[str] = (), fingerprints: Mapping[str, str] | None = None) -> None:
        """`masked_texts` have placeholders already. `fingerprints` tell their values apart: a value that has one gets
        the same placeholder again. Other placeholders of these texts are not used again.
        """
        self.fingerprints = dict(fingerprints or {})
        """Keyed hashes of the values, by placeholder."""
        self._placeholders: dict[tuple[Kind, str], str] = {}
        self._known = {fingerprint: placeholder for placeholder, fingerprint in self.fingerprints.items()}
        self._numbers = dict.fromkeys(NAMES.values(), 0)
        for text in (*masked_texts, *self.fingerprints):
            for name, number in PLACEHOLDER.findall(text):
                self._numbers[name] = max(self._numbers[name], int(number))

    def masked(self, text: str, spans: Sequence[Span] | None = None) -> str:
        """Return the text with placeholders for its personal data, which is at `spans` if these are known."""
        parts, end = [], 0
        for span in find_personal_data(text) if spans is None else spans:
            parts += [text[end : span.start], self._placeholder(span.kind, text[span.start : span.end])]
            end = span.end
        return "".join([*parts, text[end:]]) if parts else text

    def masked_candidate(self, candidate: Candidate) -> Candidate:
        """Return the candidate with placeholders in its text and in its shorter forms; itself if there is no need."""
        spans: Sequence[Span] | None = candidate.own_memo.get(Span)
        if spans is None:
            spans = candidate.own_memo[Span] = find_personal_data(candidate.text)
        if not spans:  # its levels are parts of the text, or were written from it
            return candidate
        summary = candidate.summary and replace(candidate.summary, text=self.masked(candidate.summary.text))
        levels = {level: replace(one, text=self.masked(one.text)) for level, one in candidate.levels.items()}
        return structs.replace(candidate, text=self.masked(candidate.text, spans), summary=summary, levels=levels)

    def _placeholder(self, kind: Kind, value: str) -> str:
        key = kind, canonical_value(kind, value)
        if key not in self._placeholders:
            fingerprint = fingerprint_of(*key)
            placeholder = self._known.get(fingerprint) or self._next_placeholder(NAMES[kind])
            self._placeholders[key], self.fingerprints[placeholder] = placeholder, fingerprint
        return self._placeholders[key]

    def _next_placeholder(self, name: str) -> str:
        self._numbers[name] += 1
        return f"[{name} {self._numbers[name]}]"
