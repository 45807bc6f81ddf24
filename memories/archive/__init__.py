"""Archives: a team, an agent or everything as a zip or a folder of Markdown, written out and taken in again.

    teams/care/GOALS.md CONTEXT.md RULES.md     the team's files, byte for byte
    teams/care/MEMORY.md                        its memories, one per bullet
    teams/care/team.json                        its name, and the digests of what was exported
    agents/luna/IDENTITY.md …                   the same of an agent, with
    agents/luna/memory/2026-03-14.md            a daily log
    profiles/ rules/                            of the organisation; `assembly` adds them

Each folder at the top is a section (`sections.py`). A digest is of a text as it was exported; by it an import tells
what was changed in the archive from what was changed here since.
"""
