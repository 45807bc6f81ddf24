"""External sources as they are read: everybody sees names and labels, admins of the organisation all the rest."""

from collections.abc import Collection

from assembly.engine.profile import Profile
from assembly.external.asking import SOURCE
from assembly.models import ExternalSource
from assembly.models.external import MAX_NAME_CHARACTERS
from config.http.errors import NotFound
from teams.access import require_admin
from teams.principal import Principal


def external_source_named(name: str) -> ExternalSource:
    """The endpoint of that name. Raises NotFound."""
    known = len(name) <= MAX_NAME_CHARACTERS and name.isprintable()
    row = ExternalSource.objects.filter(name=name).first() if known else None
    if row is None:
        raise NotFound(f"The external source “{name}”")
    return row


def external_source_for(principal: Principal, name: str) -> ExternalSource:
    """The same, to be changed or asked. Raises Forbidden for all but admins, and NotFound."""
    require_admin(principal)
    return external_source_named(name)


def unregistered(profile: Profile) -> Collection[str]:
    """The keys of the profile's external sections that name no endpoint, in their order."""
    keys = [section.key for section in profile.sections if section.source == SOURCE]
    known = set(ExternalSource.objects.filter(name__in=keys).values_list("name", flat=True)) if keys else set()
    return [key for key in keys if key not in known]
