"""Profiles: the strategies by which contexts are made, shipped with Dossier or written by admins."""

from assembly.profiles.catalogue import Entry, profile_entry, profile_named, profiles_all
from assembly.profiles.shipped import CONVERSATION, SHIPPED, SIMILARITY_THRESHOLD

__all__ = [
    "CONVERSATION",
    "SHIPPED",
    "SIMILARITY_THRESHOLD",
    "Entry",
    "profile_entry",
    "profile_named",
    "profiles_all",
]
