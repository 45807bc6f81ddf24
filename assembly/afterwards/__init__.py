"""What happens after an assembly: everything that need not keep its caller waiting.

Each record leaves a row in the queue `new_assemblies`. A worker takes the rows, hands their assemblies to every
follower and deletes the rows, all in one transaction: so each follower sees each assembly exactly once, whatever dies
meanwhile.
"""

from collections.abc import Callable, Sequence

from assembly.models import Assembly

Follower = Callable[[Sequence[Assembly]], None]
"""Told of assemblies that became visible, the oldest first; writes by the default connection, in the open transaction.

One that raises has not seen them: it is told of them again.
"""

followers: list[Follower] = []
"""In the order in which they are told. Apps register theirs when they are ready."""

__all__ = ["Follower", "followers"]
