"""This module registers, reads and tests external sources. A URL is checked when it is stored and at every request.

Everyone sees names and labels, organisation admins see everything. A test queries one endpoint and stores nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from assembly.engine.assemble import RESERVED_SECTION_KEYS
from assembly.engine.profile import Profile
from assembly.engine.query_signals import parse_signals
from assembly.models import ExternalSource
from assembly.models.external_source import DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS, MAX_NAME_CHARACTERS, validate_name
from assembly.sources.external.http_queries import CLOSING_SECONDS, query_all
from assembly.sources.external.questions import EXTERNAL_SOURCE, ExternalAnswer, external_query, query_body
from config.http.encryption import UndecryptableSecret, decrypt, encrypt
from config.http.errors import Conflict, Invalid, NotFound
from config.http.outbound.background_call import BackgroundCall
from config.http.outbound.ssrf import FOR_SOURCES, AddressRefused, host_of, parse_url, validate_url
from teams.access import require_admin
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import StaleVersion, lock_row

MAX_SOURCES = 100
RESERVED_NAMES = {"new"}
"""Names that no source can have, because they are parts of URLs."""


@dataclass(frozen=True, slots=True)
class ExternalSourceConfig:
    """The settings of an external source without its secret. `limit` is in results, `timeout_ms` in milliseconds."""

    label: str
    url: str
    limit: int = DEFAULT_LIMIT
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    enabled: bool = True
    sensitivity: int = DEFAULT_LEVEL

    @classmethod
    def of(cls, source: ExternalSource) -> "ExternalSourceConfig":
        """Return the stored settings of a source."""
        return cls(source.label, source.url, source.limit, source.timeout_ms, source.enabled, source.sensitivity)


@transaction.atomic
def external_source_create(
    *, name: str, facts: ExternalSourceConfig, secret: str = "", principal: Principal
) -> ExternalSource:
    """Register an external source, for the sections whose key is its name. Raises Forbidden, Conflict and Invalid."""
    require_admin(principal)
    _refuse_name(name)
    validate_url(facts.url, FOR_SOURCES)
    if ExternalSource.objects.count() >= MAX_SOURCES:
        raise Conflict(f"There are {MAX_SOURCES} external sources already. Delete one that no profile names.")
    row = ExternalSource(name=name, sealed_secret=encrypt(secret), **asdict(facts))
    row.signed_by(principal.author)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"There is an external source “{name}” already. Choose another name.") from None
    _record(principal, ActivityAction.SOURCE_CREATED, row)
    return row


def _record(
    principal: Principal, action: ActivityAction, source: ExternalSource, detail: Mapping[str, Any] | None = None
) -> None:
    """Record the act in the activity log."""
    activity_record(principal, action, source.name, detail=_public_facts(source) if detail is None else detail)


def _public_facts(source: ExternalSource) -> dict[str, Any]:
    facts = asdict(ExternalSourceConfig.of(source))
    return {"host": host_of(facts.pop("url")), **facts}


def external_source_update(
    *,
    source: ExternalSource,
    facts: ExternalSourceConfig,
    secret: str | None,
    expected_version: int,
    principal: Principal,
) -> ExternalSource:
    """Change an external source; a call that changes nothing creates no version. With `secret` None, the stored secret
    remains.

    Raises Forbidden, StaleVersion, NotFound if it was deleted in the meantime, and Invalid, also for a URL of another
    server while the secret, which was meant for the first one, remains.
    """
    require_admin(principal)
    if facts.url != source.url:  # one whose host is gone can still be switched off
        validate_url(facts.url, FOR_SOURCES)
    with transaction.atomic():
        current = lock_row(source)
        if current.version != expected_version:
            raise StaleVersion(current, expected_version)
        if secret is None and current.sealed_secret and _server_of(facts.url) != _server_of(current.url):
            raise Invalid("secret", "The URL leads to another server now. Enter the secret for it, or remove it.")
        return _save_source(current, facts, secret, principal)


@transaction.atomic
def external_source_delete(*, source: ExternalSource, principal: Principal) -> None:
    """Delete an external source. Contexts with its results remain. Raises Forbidden and NotFound."""
    require_admin(principal)
    deleted, _ = ExternalSource.objects.filter(pk=source.pk).delete()
    if not deleted:
        raise NotFound(f"The external source “{source.name}”")
    _record(principal, ActivityAction.SOURCE_DELETED, source)


def _save_source(
    current: ExternalSource, facts: ExternalSourceConfig, secret: str | None, principal: Principal
) -> ExternalSource:
    if facts == ExternalSourceConfig.of(current) and (secret is None or _is_secret_of(current, secret)):
        return current
    before, url = _public_facts(current), current.url
    for name, value in asdict(facts).items():
        setattr(current, name, value)
    if secret is not None:
        current.sealed_secret = encrypt(secret)
    changed = {"url_changed": current.url != url, "secret_changed": secret is not None}
    detail = changed_values(before, _public_facts(current)) | changed
    _record(principal, ActivityAction.SOURCE_CHANGED, current, detail)
    current.version += 1
    current.signed_by(principal.author)
    current.save(force_update=True)
    return current


def _is_secret_of(source: ExternalSource, secret: str) -> bool:
    try:
        return decrypt(source.sealed_secret) == secret
    except UndecryptableSecret:
        return False


def _server_of(url: str) -> tuple[str, bytes, int | None] | None:
    """Return scheme, host and port; None for a stored URL that cannot be parsed any more."""
    try:
        read = parse_url(url)
    except AddressRefused:
        return None
    return read.scheme, read.raw_host, read.port


def _refuse_name(name: str) -> None:
    if len(name) > MAX_NAME_CHARACTERS or not validate_name.regex.fullmatch(name):  # type: ignore[union-attr]
        raise Invalid("name", str(validate_name.message))
    if name in RESERVED_NAMES | RESERVED_SECTION_KEYS:
        raise Invalid("name", f"“{name}” is reserved. Choose another name.")


def find_external_source(name: str) -> ExternalSource:
    """Return the external source with this name. Raises NotFound."""
    known = len(name) <= MAX_NAME_CHARACTERS and name.isprintable()
    row = ExternalSource.objects.filter(name=name).first() if known else None
    if row is None:
        raise NotFound(f"The external source “{name}”")
    return row


def external_source_for(principal: Principal, name: str) -> ExternalSource:
    """Return the external source with this name, to be changed or tested.

    Raises Forbidden for all but admins, and NotFound.
    """
    require_admin(principal)
    return find_external_source(name)


def unregistered_sections(profile: Profile) -> Collection[str]:
    """Return the keys of the profile's external sections that name no registered source, in their order."""
    keys = [section.key for section in profile.sections if section.source == EXTERNAL_SOURCE]
    known = set(ExternalSource.objects.filter(name__in=keys).values_list("name", flat=True)) if keys else set()
    return [key for key in keys if key not in known]


MAX_QUERY_CHARACTERS = 2_000
GRACE_SECONDS = 5.0
"""Seconds for reading a large response that arrives at the deadline."""


def external_source_ask(*, source: ExternalSource, query: str) -> ExternalAnswer:
    """Query the external source within its own timeout, for a test. It is also queried while it is disabled."""
    signals = parse_signals(query)
    question = query_body(
        query=query, agent=None, team=None, session=None, intent=signals.intent, keywords=signals.keywords
    )
    asking = external_query(source, limit=source.limit, now=timezone.now(), question=question)
    seconds = source.timeout_ms / 1000 + CLOSING_SECONDS
    beside = BackgroundCall("external source", partial(query_all, [asking], seconds=seconds))
    return beside.result(seconds=seconds + GRACE_SECONDS)[0]
