"""A conflict is a pair of texts that contradict each other; this room finds conflicts."""
