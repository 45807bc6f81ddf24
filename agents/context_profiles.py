"""An agent may have a context profile of its own. The app that knows the profiles registers how to list them here."""

from collections.abc import Callable, Sequence

from config.http.errors import Invalid

ListProfiles = Callable[[], Sequence[str]]

registered: list[ListProfiles] = []
"""The functions that list the names of profiles that can be used now."""


def profile_names() -> list[str]:
    """Return the names of the profiles that an agent can have."""
    return [name for list_profiles in registered for name in list_profiles()]


def profile_choices() -> list[tuple[str, str]]:
    """Return the choices of a form: the default, and each profile."""
    return [("", "conversation"), *((name, name) for name in profile_names() if name != "conversation")]


def require_profile(name: str) -> None:
    """Check that the name is empty or that of a profile. Raises Invalid."""
    if name and name not in (known := profile_names()):
        raise Invalid("profile", f"There is no profile “{name}”. Known are: {', '.join(known)}.", "unknown")
