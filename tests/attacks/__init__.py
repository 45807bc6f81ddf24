"""Texts that would run a script, or fetch something from elsewhere, were Markdown shown carelessly; by their class."""

import json
from pathlib import Path

ATTACKS: dict[str, list[str]] = json.loads((Path(__file__).with_name("scripts.json")).read_text())
ALL = [attack for attacks in ATTACKS.values() for attack in attacks]


def texts_of_attacks(count: int) -> list[str]:
    """All of them in so many Markdown texts. The class of unfinished code comes last, as it swallows what follows."""
    named = [f"# {name}\n\n" + "\n\n".join(attacks) for name, attacks in ATTACKS.items()]
    size = -(-len(named) // count)
    return ["\n\n".join(named[at : at + size]) for at in range(0, len(named), size)]
