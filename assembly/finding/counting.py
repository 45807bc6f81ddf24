"""How many contexts are wanted: every row is looked at, so this is for the background."""

from assembly.finding.asking import rows
from assembly.finding.conditions import conditions_of
from assembly.finding.pieces import pieces_of
from assembly.finding.sight import Sight
from assembly.finding.wanted import Wanted
from assembly.finding.ways import Stretch


def matching_count(*, sight: Sight, wanted: Wanted) -> int:
    """Of those that may be seen."""
    conditions = conditions_of(wanted, pieces_of(wanted), sight.limits)
    stretch = Stretch(None, wanted.since, wanted.until)
    parameters = {name: value for one in conditions for name, value in one.parameters.items()}
    sql = " AND ".join([stretch.sql, *(one.sql for one in conditions)])
    ((count,),) = rows(f"SELECT count(*) FROM assemblies WHERE {sql}", {**parameters, **stretch.parameters})  # noqa: S608
    return int(count)
