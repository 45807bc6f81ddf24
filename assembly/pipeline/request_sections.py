"""What a caller sends itself, a text and the turns of the conversation, has a place in contexts of every profile.

A profile without sections for them gets these sections for the request, and the record has the profile with them.
"""

from dataclasses import replace

from assembly.engine.profile import Profile, Section
from assembly.pipeline.request import AssemblyRequest

ADDITIONAL_CONTEXT = Section(
    key="additional_context", label="Additional Context", layer="L6", source="additional_context", shape="blocks"
)
TURNS = Section(key="turns", label="Recent Turns", layer="L6", source="turns", shape="turns")
SHARE_BESIDE_BLOCKS = 20.0
"""The percent of the budget for turns in a profile whose blocks compete for the budget, as in the built-in ones. In
other profiles turns use what the sections before them leave.
"""


def add_request_sections(profile: Profile, asked: AssemblyRequest) -> Profile:
    """Return the profile with a section for each text of the request that has none."""
    sources = {section.source for section in profile.sections}
    sections = list(profile.sections)
    if asked.additional_context and ADDITIONAL_CONTEXT.source not in sources:
        sections.insert(_place_of_blocks(sections), _with_free_key(ADDITIONAL_CONTEXT, sections))
    if asked.history and TURNS.source not in sources:
        has_blocks = any(section.shape == "blocks" for section in profile.sections)
        turns = replace(TURNS, share=SHARE_BESIDE_BLOCKS) if has_blocks else TURNS
        sections.append(_with_free_key(turns, sections))
    return profile if len(sections) == len(profile.sections) else replace(profile, sections=tuple(sections))


def _place_of_blocks(sections: list[Section]) -> int:
    """Return the place after the last section of blocks, which must be adjacent; without any, the end before turns."""
    blocks = [place for place, section in enumerate(sections, 1) if section.shape == "blocks"]
    return blocks[-1] if blocks else sum(section.shape != "turns" for section in sections)


def _with_free_key(section: Section, sections: list[Section]) -> Section:
    """Return the section; with another key if a section of the profile has its key."""
    keys = {one.key for one in sections}
    key = next(key for key in (section.key, *(f"{section.key}_{number}" for number in range(2, 99))) if key not in keys)
    return replace(section, key=key)
