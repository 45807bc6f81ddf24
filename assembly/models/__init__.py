"""The record of assemblies, and the profiles and rules that they follow."""

from assembly.models.change import ChangeCounter
from assembly.models.external import ExternalSource
from assembly.models.piece import Piece, StoredText, text_hash
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.record import Assembly, AssemblyQuerySet, NewAssembly
from assembly.models.retention import AssemblyFlag, Pruning, RetentionPolicy, UnusedPiece
from assembly.models.rule import StoredRule, StoredRuleVersion
from assembly.models.seal import FollowFailure, Seal
from assembly.models.summary import StoredSummary

__all__ = [
    "Assembly",
    "AssemblyFlag",
    "AssemblyQuerySet",
    "ChangeCounter",
    "ExternalSource",
    "FollowFailure",
    "NewAssembly",
    "Piece",
    "Pruning",
    "RetentionPolicy",
    "Seal",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredSummary",
    "StoredText",
    "UnusedPiece",
    "text_hash",
]
