"""Passwords, and keys in formats of nobody's, are found by the name before them: *password*, *api key*, *login*.

How much a value has to look like a secret depends on what stands between the name and the value: a sign such as a colon
says most, a verb less, and of the other values around the name only those count that look like nothing else. What only
stands for a secret is none: a placeholder, a variable, a call. Nor is a word, a quantity or a date.
"""

import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["password", "key"]
Evidence = Literal["sign", "verb", "nearby"]

NAME = re.compile(
    r"""
    (?: (?<![^\W_]) | (?-i:(?<=[a-z])(?=[A-Z])) )
    (?:
        (?P<password>
            pass(?:word|wd|phrase|code)? | pwd | pswd | psk | contraseña | clave | mot[ _]de[ _]passe | senha
            | (?<![^\W_]) (?:p/?w|mdp|ww)
            | [a-zäöüß]{0,20} (?:passw[oö]rt|kennwort|wachtwoord)
        )
        | (?P<login> (?:log|sign)[ -]?in | credentials | creds | zugang(?:sdaten)? | anmeldedaten | anmelden )
        | (?P<key>
            (?: (?:api|access|secret|auth|account|client|private|signing|encryption|license|service|session|webhook|bot)
                [ _-]? )+
            (?:key|token|secret|schlüssel)
            | token | secret
        )
    )
    (?: (?![^\W_]) | (?-i:(?=[A-Z])) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Names of secrets, also as a part of a longer name, as in DB_PASSWORD and SharedAccessKey."""
HINTS = (
    "pass", "pwd", "pw", "p/w", "pswd", "psk", "kennw", "contrase", "clave", "senha", "mot", "mdp", "ww", "wachtw",
    "log", "sign", "cred", "zugang", "anmeld", "key", "token", "secret", "schlüssel",
)  # fmt: skip
"""Each name has one of these. Most texts have none, and to look for them takes a tenth of the time that names take."""
BEFORE, AFTER = 100, 50
"""The numbers of characters before and after a value in which its name can stand."""
NAMES_BEFORE = 4
"""Of more names before a value, the nearest are looked at."""
VALUE = re.compile(r"(?![*_(\[])[^\s\"'`“”„«»\u2018\u2019|]{4,2000}")
ASSIGNED_WITHIN = re.compile(r"[=:](?P<value>[^&;,]{4,})")
"""The value in `NAME=value` or `name:value` without a space."""
OPENING = "\"'`“„«\u2018([* \t"
REST_OF_NAME = r"[\w.-]{0,30}[\"'`*\]]{0,3}"
WORDS = r"(?:[ \t][\w'\u2019&/().-]{1,24}){0,7}?"
SIGN = re.compile(REST_OF_NAME + WORDS + r"[ \t]{0,2}\??\??[ \t]?(?:=>|→|:=|={1,3}|:)[ \t*_]{0,3}", re.IGNORECASE)
VERB = re.compile(
    REST_OF_NAME + r"(?:[^\n]{0,80}?[ \t]"
    r"(?:is|it's|it\u2019s|was|are|be|to|with|by|now|says|value|lautet|ist|heißt|auf|mit|also|es|est|à|é|con|naar)"
    r"(?: (?:now|still|jetzt|nun|ahora))?:?|(?:bearer|basic)?)[ \t]*",
    re.IGNORECASE,
)
"""What stands between a name and its value in a sentence, as in “the password of the scanner is now …”."""
ACCOUNT = re.compile(r"[^\n/|]{0,50}?[\w.@+-]{2,60}(?: ?[/|:]|,? (?:and|und|with|mit|y))[ \t]*", re.IGNORECASE)
"""What stands between *login* and a password: the name of the account, as in “login: front-desk / …”."""
IN_PLACE = (
    re.compile(
        r"\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@?#\"'<>]{0,100}:(?P<value>[^\s:/@\"'<>]{2,200})@(?=[\w\[{$])", re.IGNORECASE
    ),
    re.compile(r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)\s?[\"']?[^\s:\"']{1,60}:(?P<value>[^\s\"']{4,200})"),
    re.compile(r"\b(?:mysql|mysqldump|mariadb|mysqladmin)\b[^\n]{0,200}?\s-p(?P<value>[^\s\"'$]{4,100})"),
    re.compile(r"\bsshpass\s+-p\s?[\"']?(?P<value>[^\s\"'$]{4,100})"),
    re.compile(r"\bIDENTIFIED\s+BY\s+'(?P<value>[^'\n]{4,100})'", re.IGNORECASE),
    re.compile(r"\b(?:bearer|basic)\s(?P<value>(?=\S*\d)[A-Za-z0-9._~+/=-]{16,2000})", re.IGNORECASE),
    re.compile(r"\bpassphrase\b[^\n\"“”]{0,80}[\"“](?P<value>[^\"“”\n]{12,120})[\"”]", re.IGNORECASE),
    re.compile(r"[?&]sig=(?P<value>[A-Za-z0-9%+/]{40,100})"),
)
"""Places of passwords in addresses and commands."""

PLACEHOLDER = re.compile(
    r"[<{$%\[(&@?:].*|\]\(.*|.*[<>{}].*|\W+|[x*•.#_0-]+|.*(?:\*{3}|x{4}|\.{3}|…|•{2}).*"
    r"|(?:.*[_-])?(?:your|my|change_?me|example|placeholder|redacted|insert|replace|dummy|sample|todo)(?:[_-].*)?"
    r"|none|null|true|false|pass(?:word|wd|phrase|wort)?\d?(?:@.*)?|secret\d?|pwd?|token|![a-z]+"
    r"|.*(?:pbkdf2|bcrypt|argon2|scrypt|sha-?(?:1|256|512)).*",
    re.IGNORECASE,
)
CODE = re.compile(
    r".*[A-Za-z_][(\[].*|[a-z_]\w*(?:\.[a-z_]\w*)+|(?:op|arn|file|vault|ssm|https?|ssh|mailto):\S*|--?[a-z]\S*|/\S*|[A-Za-z_][\w.-]{0,30}=[^=\s]*|[\w./-]+\.(?:md|html?|py|js|json|ya?ml|txt)\b\S*"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|\S+@\S+\.[a-z]{2,}",
)
QUANTITY = re.compile(
    r"[~≈<>≥≤]?\d[\d.,:%/\u2013+-]*[a-zA-Z]{0,5}|\d+-[a-z]+|\d{4}-\d\d-\d\d\S*|v?\d+(?:\.\d+)+\S*|(?:sha|md)-?\d+\S*",
    re.IGNORECASE,
)
HASH = re.compile(r"[0-9a-f-]{7,}", re.IGNORECASE)
PIN = re.compile(r"\d{6,12}")
UNUSUAL = re.compile(r"[A-Za-z][!#$%&?^~+][A-Za-z\d]|[A-Za-z]\d[a-z]{2}|[a-z]\d[A-Z]|[!#$%&?^~]\d")
"""What words, names and numbers of things do not have: a symbol within, or a digit in place of a letter."""
ENDS = ".,;:?)]}>*_"
"""Punctuation after a value that belongs to the sentence."""
MIN_CHARACTERS: dict[Kind, int] = {"password": 6, "key": 12}
"""The name of a key tells less than that of a password: there are tokens and keys of other kinds."""
MIN_UNUSUAL, MIN_PHRASE = 8, 15
MAX_NAME_CHARACTERS = 60
"""A longer text is a sentence, not a name."""


def find_passwords(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Yield the kind, start and end of each value that is named a password or key, or stands where a password stands in
    an address or a command.
    """
    for pattern in IN_PLACE:
        for found in pattern.finditer(text):
            if not stands_for_secret(found["value"]):
                yield ("password", *found.span("value"))
    lowered = text.lower()
    if not any(hint in lowered for hint in HINTS):
        return
    for start, value in _values(text):
        value = value.rstrip(ENDS)  # noqa: PLW2901 - the rest belongs to the sentence
        if _may_be_secret(value) and (kind := _kind_of(text, lowered, start, value)):
            yield kind, start, start + len(value)


def _values(text: str) -> Iterator[tuple[int, str]]:
    """Yield the places and texts of what may be values: the words of the text, and what is assigned within them."""
    for word in VALUE.finditer(text):
        yield word.start(), word[0]
        for assigned in ASSIGNED_WITHIN.finditer(word[0]):
            yield word.start() + assigned.start("value"), assigned["value"]


def _may_be_secret(value: str) -> bool:
    """Return whether the value looks like a secret if there is a name for it."""
    if len(value) < MIN_CHARACTERS["password"]:
        return False
    return _is_mixed(value) or PIN.fullmatch(value) is not None or _is_phrase(value)


def _kind_of(text: str, lowered: str, start: int, value: str) -> Kind | None:
    """Return what the names around the value say that it is; None if nothing says that it is a secret."""
    first, last = max(0, start - BEFORE), start + len(value) + AFTER
    if not any(hint in lowered[first:last] for hint in HINTS) or stands_for_secret(value):
        return None
    names = [*NAME.finditer(text, first, start)][-NAMES_BEFORE:]
    for name in reversed(names):
        kind: Kind = "key" if name["key"] else "password"
        evidence = _evidence(name, text[name.end() : start].rstrip(OPENING))
        if evidence and _is_secret(value, kind, evidence):
            return kind
    is_near = any(not name["key"] for name in names) or any(
        not name["key"] for name in NAME.finditer(text, start + len(value), last)
    )
    return "password" if is_near and _is_secret(value, "password", "nearby") else None


def _evidence(name: re.Match[str], between: str) -> Evidence | None:
    """Return what the text between a name and a value says; None if the value may belong to something else."""
    if name["login"]:
        return "verb" if ACCOUNT.fullmatch(between) else None
    if SIGN.fullmatch(between):
        return "sign"
    return "verb" if VERB.fullmatch(between) else None


def _is_secret(value: str, kind: Kind, evidence: Evidence) -> bool:
    if len(value) < MIN_CHARACTERS[kind]:
        return False
    if evidence == "sign" and kind == "password" and (PIN.fullmatch(value) or _is_phrase(value)):
        return True
    if QUANTITY.fullmatch(value) or not _is_mixed(value):
        return False
    return evidence != "nearby" or _is_unusual(value)


def names_secret(name: str) -> bool:
    """Return whether this is, or has in it, the name of a password or key, as `DB_PASSWORD` and `api_key`."""
    if not any(hint in name.lower() for hint in HINTS):
        return False
    return len(name) <= MAX_NAME_CHARACTERS and any(not found["login"] for found in NAME.finditer(name))


def stands_for_secret(value: str) -> bool:
    """Return whether the value is a placeholder, a variable or a call instead of a secret."""
    return bool(PLACEHOLDER.fullmatch(value) or CODE.fullmatch(value))


def _is_mixed(value: str) -> bool:
    """Return whether the value has letters together with digits or with symbols that stand in no word."""
    has_letter = any(character.isalpha() for character in value)
    return has_letter and any(character.isdigit() or character in "!@#$%^&*+=?~|" for character in value)


def _is_phrase(value: str) -> bool:
    """Return whether the value is long and consists of words that are joined."""
    return len(value) >= MIN_PHRASE and len(re.split("[-_.]", value)) > 2  # noqa: PLR2004 - more than a compound


def _is_unusual(value: str) -> bool:
    """Return whether the value looks like a password and like nothing else."""
    return len(value) >= MIN_UNUSUAL and not HASH.fullmatch(value) and UNUSUAL.search(value) is not None
