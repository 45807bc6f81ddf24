"""What leaves this machine has to be encrypted: addresses of databases, caches and brokers elsewhere demand TLS."""

import os
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

ALLOW = "ALLOW_UNENCRYPTED_CONNECTIONS"
"""The variable by which the operator says that something else protects the connections, such as a private network."""
TLS_MODES = {"require", "verify-ca", "verify-full"}
TLS_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey")
"""Parameters of a postgresql:// address that are passed on to libpq."""
TLS_SCHEMES = {"rediss", "amqps"}
LOCAL_SCHEMES = {"unix", "memory"}


def tls_options(query: str) -> dict[str, str]:
    """Return those parameters of a postgresql:// address that concern TLS."""
    return {name: value for name, value in parse_qsl(query) if name in TLS_OPTIONS}


def require_database_tls(name: str, host: str, options: dict[str, str]) -> None:
    """Raise ImproperlyConfigured if the variable's database is elsewhere, and is reached without TLS."""
    if options.get("sslmode") not in TLS_MODES and not all(map(_is_here, host.split(","))):
        _refuse(name, "Add ?sslmode=verify-full to it, or at least ?sslmode=require.")


def require_server_tls(name: str, address: str) -> None:
    """Raise ImproperlyConfigured if the variable's Redis or broker is elsewhere, and is reached without TLS."""
    parts = urlsplit(address)
    if address and parts.scheme not in TLS_SCHEMES | LOCAL_SCHEMES and not _is_here(_host(parts)):
        _refuse(name, "Write rediss:// instead of redis://, or amqps:// instead of amqp://.")


def _host(parts: SplitResult) -> str:
    return parts.hostname or ""


def _is_here(host: str) -> bool:
    """Return whether a host is this machine: a socket's folder, localhost, or a loopback address."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse(name: str, remedy: str) -> None:
    if os.environ.get(ALLOW, "").strip().lower() not in {"1", "true", "yes", "on"}:
        raise ImproperlyConfigured(
            f"{name} is on another machine, and what is sent there would not be encrypted. {remedy} If something else "
            f"protects this connection, set {ALLOW}=true."
        )
