"""The profiles that Dossier comes with."""

from assembly.engine.profile import Profile, Section
from config.http.errors import Invalid

SIMILARITY_THRESHOLD = 0.24
"""Least cosine at which a memory counts as found, with the bundled embeddings.

Measured on 762 questions about five long conversations (LoCoMo): all of them find something at .24 (95 % with the
speakers' names taken out), while 85 % of 1,500 nonsense topics find nothing. At .20 that is 61 %; at .28 real evidence
gets lost.
"""

CONVERSATION = Profile(
    name="conversation",
    version=1,
    budget=16_000,
    similarity_threshold=SIMILARITY_THRESHOLD,
    sections=(
        Section("identity", "Identity", "L1", "agent_files", "text", required=True),
        Section("instructions", "Instructions", "L1", "agent_files", "text", required=True),
        Section("goals", "Team Goals", "L2", "team_files", "text"),
        Section("context", "Team Context", "L2", "team_files", "text"),
        Section("rules", "Team Rules", "L2", "team_files", "text"),
        Section("recent_activity", "Recent Activity", "L3", "daily_logs", "entries", cap=3_000),
        Section("team_knowledge", "Team Knowledge", "L4", "team_memories", "lines", cap=2_000, top_k=5),
        Section("personal_memories", "Personal Memories", "L5", "agent_memories", "lines", cap=2_000, top_k=5),
        Section("knowledge", "Knowledge Base", "L7", "agent_files", "text", cap=2_000),
    ),
)
"""The context at the start of a conversation, from the seed "Siestai: Context Assembly"."""

SHIPPED = {profile.name: profile for profile in (CONVERSATION,)}


def profile_named(name: str) -> Profile:
    """The profile with that name. Raises Invalid, which says which there are."""
    if name not in SHIPPED:
        raise Invalid("profile", f"There is no profile “{name}”. Known are: {', '.join(SHIPPED)}.", "unknown")
    return SHIPPED[name]
