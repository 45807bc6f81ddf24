"""This room answers MemoryRequest.v0 with AssembledContext.v0, the contract of the seed "Memory Layer"."""
