"""The built-in profiles are one file each, read once at start."""

from pathlib import Path

from assembly.profiles.parser import parse_described_profile

SHIPPED = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.yaml"))}
"""The texts of the built-in profiles by name."""

# Named here, so that sources may read this module while they are being registered.
_SOURCES = ("agent_files", "team_files", "daily_logs", "team_memories", "agent_memories")

CONVERSATION = parse_described_profile(
    SHIPPED["conversation"], name="conversation", version=1, sources=_SOURCES
).profile
"""The profile of the context at the start of a conversation, from the seed "Siestai: Context Assembly". It cannot be
changed.
"""

SIMILARITY_THRESHOLD = CONVERSATION.similarity_threshold
"""The lowest cosine at which a text counts as similar, with the bundled embeddings; its file says how
it was measured.
"""
