"""What agents and teams keep, one file per noun."""

from memories.models.memory import Memory, MemoryVersion

__all__ = ["Memory", "MemoryVersion"]
