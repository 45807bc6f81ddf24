"""These readers of environment variables are typed: an invalid value stops the start with a message on what to set."""

import base64
import contextlib
import os
import re
import secrets
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.encrypted_transport import require_database_tls, require_server_tls, tls_options

API_ADDRESS = re.compile(
    r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?:/[A-Za-z0-9._~/%+-]*)?"
)
MAX_PORT = 65_535
REDIS_SCHEMES = {"redis", "rediss", "unix"}
KEY_BYTES = 32


def text(name: str, default: str = "") -> str:
    """Return the variable's value without surrounding white space, or the default."""
    return os.environ.get(name, default).strip()


def flag(name: str, *, default: bool = False) -> bool:
    """Return the value of a yes-or-no variable. Raises ImproperlyConfigured for other values."""
    value = text(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return value in {"1", "true", "yes", "on"} if value else default
    raise ImproperlyConfigured(f"{name} is {value!r}. Set it to true or false.")


def number(name: str, default: int, *, minimum: int, maximum: int) -> int:
    """Return a whole number within bounds. Raises ImproperlyConfigured for other values."""
    value = text(name) or str(default)
    if value.isdecimal() and minimum <= int(value) <= maximum:
        return int(value)
    raise ImproperlyConfigured(f"{name} is {value!r}. Set it to a whole number from {minimum} to {maximum}.")


def web_processes() -> int:
    """Return the default number of web processes: half the processors, because the database needs the others, but two
    on two processors, and at most four.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, max(processors // 2, min(processors, 2)))


def choice(name: str, default: str, *others: str) -> str:
    """Return one of a few words. Raises ImproperlyConfigured for other values."""
    value = text(name) or default
    if value in {default, *others}:
        return value
    raise ImproperlyConfigured(f"{name} is {value!r}. Set it to {', '.join([default, *others[:-1]])} or {others[-1]}.")


def level(name: str) -> str:
    """Return a level of sensitivity, internal by default. Raises ImproperlyConfigured for other values."""
    return choice(name, "internal", "public", "confidential", "restricted")


def web_address(name: str) -> str:
    """Return an http:// or https:// address; "" if it is not set. Raises ImproperlyConfigured for other values."""
    value = text(name)
    parts = urlsplit(value)
    if value and not (parts.scheme in {"http", "https"} and parts.netloc):
        raise ImproperlyConfigured(f"{name} must look like http://collector:4318. Correct it, or leave it out.")
    return value


def api_address(name: str) -> str:
    """Return the base address of an API without a slash at its end; "" if it is not set.

    Raises ImproperlyConfigured for other values, and for an address with a user or a query.
    """
    value = text(name)
    parts = API_ADDRESS.fullmatch(value)
    if value and not (parts and 0 < int(parts["port"] or 1) <= MAX_PORT):
        raise ImproperlyConfigured(f"{name} must look like http://localhost:11434/v1. The API key has its own setting.")
    return value.rstrip("/")


def site_address(name: str, *, needed_for: str) -> str:
    """Return the address of this installation without a slash at its end; "" if it is not set.

    Raises ImproperlyConfigured for other values, and if it is missing although the other variable is set.
    """
    value = text(name)
    parts = urlsplit(value)
    if not value and text(needed_for):
        raise ImproperlyConfigured(f"{needed_for} is set, but {name} is not. Set it to the address people use.")
    if value and not (parts.scheme in {"http", "https"} and parts.netloc and not parts.query):
        raise ImproperlyConfigured(f"{name} must look like https://dossier.example.org. Correct it, or leave it out.")
    return value.rstrip("/")


def printable(name: str, *, maximum: int, needed_for: str = "") -> str:
    """Return a line of limited length.

    Raises ImproperlyConfigured for other values, and if it is missing although the other variable is set.
    """
    value = text(name)
    if not value and needed_for and text(needed_for):
        raise ImproperlyConfigured(f"{needed_for} is set, but {name} is not. Set both, or none.")
    if len(value) > maximum or not value.isprintable():
        raise ImproperlyConfigured(f"{name} must be one line of at most {maximum} characters.")
    return value


def api_key(name: str) -> str:
    """Return a bearer token. Raises ImproperlyConfigured, without the token, if a header cannot contain it."""
    value = text(name)
    if not (value.isascii() and value.isprintable() and " " not in value):
        raise ImproperlyConfigured(f"{name} must consist of letters, digits and signs of ASCII, without spaces.")
    return value


def redis_address(name: str) -> str:
    """Return a redis://, rediss:// or unix:// address; "" if it is not set.

    Raises ImproperlyConfigured, without the address and its password, for other values, and if it leads to another
    machine without TLS.
    """
    value = text(name)
    try:
        parts = urlsplit(value)
        is_usable = (
            parts.scheme in REDIS_SCHEMES
            and bool(parts.path if parts.scheme == "unix" else parts.hostname and parts.port != 0)
            and (parts.scheme == "unix" or not parts.path.strip("/") or parts.path.strip("/").isdecimal())
        )
    except ValueError:
        is_usable = False
    if value and not is_usable:
        raise ImproperlyConfigured(f"{name} must look like redis://:password@host:6379/0. Correct it, or leave it out.")
    require_server_tls(name, value)
    return value


def broker_address(name: str) -> str:
    """Return the address of a broker; "" if it is not set.

    Raises ImproperlyConfigured if it leads to another machine without TLS.
    """
    value = text(name)
    require_server_tls(name, value)
    return value


def words(name: str, default: str = "") -> list[str]:
    """Return the parts of a comma-separated list that are not empty."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def networks(name: str) -> list[str]:
    """Return the networks of a comma-separated list, such as 10.0.0.0/8. Raises ImproperlyConfigured
    for other values.
    """
    listed = words(name)
    for network in listed:
        try:
            ip_network(network)
        except ValueError:
            example = "10.20.0.0/16,fd00:20::/32"
            raise ImproperlyConfigured(f"{name} has {network!r} in it. Write networks like {example}.") from None
    return listed


def trusted_proxies(name: str) -> list[str]:
    """Return the networks of trusted proxies.

    Raises ImproperlyConfigured for other values, and for the setting BEHIND_PROXY of former versions, which trusted
    every client.
    """
    listed = networks(name)
    if flag("BEHIND_PROXY") and not listed:
        raise ImproperlyConfigured(
            f"BEHIND_PROXY alone no longer suffices. Set {name} to the proxy's address: 127.0.0.1 or 10.20.0.0/16."
        )
    return listed


def folder(name: str, default: Path) -> Path:
    """Return an absolute path; the folder is created where it is needed."""
    return Path(text(name) or default).expanduser().absolute()


def folder_or_off(name: str, default: Path) -> Path | None:
    """Return an absolute path; None for the word “off”."""
    return None if text(name).lower() == "off" else folder(name, default)


def database(name: str) -> dict[str, Any] | None:
    """Return HOST, PORT, NAME, USER and PASSWORD of a postgresql:// address, and its TLS parameters, if it has any, as
    OPTIONS; None if it is not set.

    Raises ImproperlyConfigured for other values, and if it leads to another machine without TLS.
    """
    value = text(name)
    return _database(name, value) if value else None


def databases(name: str, *, needs: str) -> list[dict[str, Any]]:
    """Return the databases of a comma-separated list of postgresql:// addresses, as `database` does.

    A comma in a password is written as %2C. Raises ImproperlyConfigured also if the other variable is not set.
    """
    listed = [_database(name, value) for value in words(name)]
    if listed and not text(needs):
        raise ImproperlyConfigured(f"{name} is set, but {needs} is not. Set both, or none.")
    return listed


def _database(name: str, value: str) -> dict[str, Any]:
    parts = urlsplit(value)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise ImproperlyConfigured(
            f"{name} must look like postgresql://user:password@host:5432/name. Dossier runs on PostgreSQL only."
        )
    host = dict(parse_qsl(parts.query)).get("host", "") or unquote(parts.hostname or "")
    options = tls_options(parts.query)
    require_database_tls(name, host, options)
    return {
        "HOST": host,
        "PORT": str(parts.port or ""),
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        **({"OPTIONS": options} if options else {}),
    }


def secret(name: str, path: Path) -> str:
    """Return the variable's value; without one, a random secret that is stored in the file (mode 0600) at the first
    start.
    """
    return text(name) or _stored_secret(path, lambda: secrets.token_urlsafe(50))


def master_key(name: str, path: Path) -> bytes:
    """Return the 32 bytes of the variable, in base64; without one, random bytes that are stored as `secret` does.

    Raises ImproperlyConfigured for other values.
    """
    value = text(name) or _stored_secret(path, lambda: base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode())
    return _key(name, value)


def master_keys(name: str) -> list[bytes]:
    """Return the keys of a comma-separated list, as `master_key` does."""
    return [_key(name, value) for value in words(name)]


def _key(name: str, value: str) -> bytes:
    try:
        found = base64.b64decode(value, validate=True)
    except ValueError:
        found = b""
    if len(found) != KEY_BYTES:
        raise ImproperlyConfigured(f"{name} must have 32 random bytes in base64, as `openssl rand -base64 32` prints.")
    return found


def _stored_secret(path: Path, make: Callable[[], str]) -> str:
    """Return the content of the file; if there is none, it is made (mode 0600) with a new secret."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        own = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(make())
        # A link appears whole or not at all, so two processes that start at once agree on one secret.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(own)
        own.unlink()
    return path.read_text(encoding="utf-8")
