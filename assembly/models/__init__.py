"""The record of assemblies, and the profiles that they follow."""

from assembly.models.change import ChangeCounter
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.record import Assembly, AssemblyQuerySet, Decision, StoredText

__all__ = [
    "Assembly",
    "AssemblyQuerySet",
    "ChangeCounter",
    "Decision",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredText",
]
