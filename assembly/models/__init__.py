"""The record of assemblies, and the profiles and rules that they follow."""

from assembly.models.change import ChangeCounter
from assembly.models.external import ExternalSource
from assembly.models.piece import Piece, StoredText, text_hash
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.proposal import Proposal
from assembly.models.record import Assembly, AssemblyQuerySet, NewAssembly
from assembly.models.rule import StoredRule, StoredRuleVersion
from assembly.models.summary import StoredSummary

__all__ = [
    "Assembly",
    "AssemblyQuerySet",
    "ChangeCounter",
    "ExternalSource",
    "NewAssembly",
    "Piece",
    "Proposal",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredSummary",
    "StoredText",
    "text_hash",
]
