"""Registering external sources. What is stored can be asked: its URL is checked as it will be at every request."""

from dataclasses import asdict, dataclass

from django.db import IntegrityError, transaction

from assembly.external.destination import Refused, url_check, url_read
from assembly.external.networks import FOR_SOURCES
from assembly.models import ExternalSource
from assembly.models.external import DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS, MAX_NAME_CHARACTERS, valid_name
from assembly.profiles.sections import RESERVED
from config.http.encryption import SecretLost, decrypt, encrypt
from config.http.errors import Conflict, Invalid, NotFound
from teams.access import require_admin
from teams.files import StaleVersion, locked
from teams.principal import Principal

MAX_SOURCES = 100
ADDRESSES = {"new"}
"""What stands where a source's name would in an address."""


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What is told of an endpoint, but for its secret. `limit` is in results, `timeout_ms` in milliseconds."""

    label: str
    url: str
    limit: int = DEFAULT_LIMIT
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    enabled: bool = True

    @classmethod
    def of(cls, source: ExternalSource) -> "SourceFacts":
        """As they are stored."""
        return cls(source.label, source.url, source.limit, source.timeout_ms, source.enabled)


def external_source_create(*, name: str, facts: SourceFacts, secret: str = "", principal: Principal) -> ExternalSource:
    """A new endpoint, for the sections whose key is its name. Raises Forbidden, Conflict and Invalid."""
    require_admin(principal)
    _refuse_name(name)
    url_check(facts.url, FOR_SOURCES)
    if ExternalSource.objects.count() >= MAX_SOURCES:
        raise Conflict(f"There are {MAX_SOURCES} external sources already. Delete one that no profile names.")
    row = ExternalSource(name=name, sealed_secret=encrypt(secret), **asdict(facts))
    row.signed_by(principal.author)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"There is an external source “{name}” already. Choose another name.") from None
    return row


def external_source_update(
    *, source: ExternalSource, facts: SourceFacts, secret: str | None, expected_version: int, principal: Principal
) -> ExternalSource:
    """Change an endpoint; the same again makes no new version. Without a secret (None) the one it has stays.

    Raises Forbidden, StaleVersion, NotFound where it was deleted meanwhile, and Invalid: also for a URL that leads
    to another server while the secret stays, which was meant for the first one alone.
    """
    require_admin(principal)
    if facts.url != source.url:  # one whose host is gone can still be switched off
        url_check(facts.url, FOR_SOURCES)
    with transaction.atomic():
        current = locked(source)
        if current.version != expected_version:
            raise StaleVersion(current, expected_version)
        if secret is None and current.sealed_secret and _server(facts.url) != _server(current.url):
            raise Invalid("secret", "The URL leads to another server now. Enter the secret for it, or remove it.")
        return _saved(current, facts, secret, principal)


def external_source_delete(*, source: ExternalSource, principal: Principal) -> None:
    """Delete an endpoint. Contexts that hold what it told stay. Raises Forbidden and NotFound."""
    require_admin(principal)
    deleted, _ = ExternalSource.objects.filter(pk=source.pk).delete()
    if not deleted:
        raise NotFound(f"The external source “{source.name}”")


def _saved(current: ExternalSource, facts: SourceFacts, secret: str | None, principal: Principal) -> ExternalSource:
    if facts == SourceFacts.of(current) and (secret is None or _is_secret_of(current, secret)):
        return current
    for name, value in asdict(facts).items():
        setattr(current, name, value)
    if secret is not None:
        current.sealed_secret = encrypt(secret)
    current.version += 1
    current.signed_by(principal.author)
    current.save(force_update=True)
    return current


def _is_secret_of(source: ExternalSource, secret: str) -> bool:
    try:
        return decrypt(source.sealed_secret) == secret
    except SecretLost:
        return False


def _server(url: str) -> tuple[str, bytes, int | None] | None:
    """Scheme, host and port; None for what is stored and cannot be read any more."""
    try:
        read = url_read(url)
    except Refused:
        return None
    return read.scheme, read.raw_host, read.port


def _refuse_name(name: str) -> None:
    if len(name) > MAX_NAME_CHARACTERS or not valid_name.regex.fullmatch(name):  # type: ignore[union-attr]
        raise Invalid("name", str(valid_name.message))
    if name in ADDRESSES | RESERVED:
        raise Invalid("name", f"“{name}” is kept for something else. Choose another name.")
