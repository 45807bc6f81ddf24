"""Finding contexts among very many: what is wanted, who may see it, and a page of it, the newest first."""

from assembly.finding.asking import TooBroad
from assembly.finding.choosing import Group, things_called
from assembly.finding.counting import matching_count
from assembly.finding.pages import Found, found
from assembly.finding.reading import PARAMETERS, Parameter, wanted_of, wanted_or_refused
from assembly.finding.sight import Owner, Sight
from assembly.finding.things import is_name
from assembly.finding.wanted import Only, Thing, Wanted
from assembly.finding.ways import Place, after_of

__all__ = [
    "PARAMETERS",
    "Found",
    "Group",
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
    "is_name",
    "matching_count",
    "things_called",
    "wanted_of",
    "wanted_or_refused",
]
