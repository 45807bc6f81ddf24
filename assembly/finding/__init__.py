"""Finding contexts among very many: what is wanted, who may see it, and a page of it, the newest first."""

from assembly.finding.asking import TooBroad
from assembly.finding.counting import matching_count
from assembly.finding.pages import Found, found
from assembly.finding.reading import PARAMETERS, Parameter, wanted_of, wanted_or_refused
from assembly.finding.sight import Owner, Sight
from assembly.finding.wanted import Only, Thing, Wanted
from assembly.finding.ways import Place, after_of

__all__ = [
    "PARAMETERS",
    "Found",
    "Only",
    "Owner",
    "Parameter",
    "Place",
    "Sight",
    "Thing",
    "TooBroad",
    "Wanted",
    "after_of",
    "found",
    "matching_count",
    "wanted_of",
    "wanted_or_refused",
]
