"""The room of conflicts finds texts that contradict each other, and lets people decide which one holds."""
