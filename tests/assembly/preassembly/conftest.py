from tests.assembly.preassembly.scene import on, owners, worker

__all__ = ["on", "owners", "worker"]
