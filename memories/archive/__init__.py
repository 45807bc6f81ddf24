"""Archives hold a team, an agent or everything as a zip or folder of Markdown, which can be exported and imported.

    teams/care/GOALS.md CONTEXT.md RULES.md     the team's files, byte for byte
    teams/care/MEMORY.md                        its memories, one per bullet
    teams/care/team.json                        its name, and the digests of the exported texts
    agents/luna/IDENTITY.md …                   the same for an agent, and
    agents/luna/memory/2026-03-14.md            a daily log
    organisation/brand-voice.md                 a file of the organisation
    profiles/ rules/                            of the organisation; the app `assembly` adds them
    recall-tests/ conflicts/                    of teams and agents; the app `assembly` adds them, too

Each folder at the top is a section (`sections.py`). A digest is a short hash of a text as it was exported; by comparing
digests, an import tells changes in the archive from changes made in Dossier since the export.
"""
