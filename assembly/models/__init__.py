"""The record of assemblies, and the profiles and rules that they follow."""

from assembly.models.change import ChangeCounter
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.record import Assembly, AssemblyQuerySet, Decision, StoredText
from assembly.models.rule import StoredRule, StoredRuleVersion

__all__ = [
    "Assembly",
    "AssemblyQuerySet",
    "ChangeCounter",
    "Decision",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredText",
]
