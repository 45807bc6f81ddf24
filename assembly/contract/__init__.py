"""The contract of the seed "Memory Layer": MemoryRequest.v0 is answered with AssembledContext.v0."""
