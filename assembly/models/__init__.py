"""The record of assemblies, and the profiles and rules that they follow."""

from assembly.models.change import ChangeCounter
from assembly.models.context_file import ContextFile, ContextFilePart
from assembly.models.external import ExternalSource
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.record import Assembly, AssemblyQuerySet, Decision, StoredText, text_hash
from assembly.models.rule import StoredRule, StoredRuleVersion
from assembly.models.summary import StoredSummary

__all__ = [
    "Assembly",
    "AssemblyQuerySet",
    "ChangeCounter",
    "ContextFile",
    "ContextFilePart",
    "Decision",
    "ExternalSource",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredSummary",
    "StoredText",
    "text_hash",
]
