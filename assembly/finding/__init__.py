"""Finding contexts among very many: what is wanted, who may see it, and a page of it, the newest first."""

from assembly.finding.asking import TooBroad
from assembly.finding.counting import matching_count
from assembly.finding.pages import Found, found
from assembly.finding.reading import PARAMETERS, wanted_of, wanted_or_refused
from assembly.finding.sight import Owner, Sight
from assembly.finding.wanted import Only, Thing, Wanted

__all__ = [
    "PARAMETERS",
    "Found",
    "Only",
    "Owner",
    "Sight",
    "Thing",
    "TooBroad",
    "Wanted",
    "found",
    "matching_count",
    "wanted_of",
    "wanted_or_refused",
]
