"""Long texts with levels of detail, and what is stored of them."""

from collections.abc import Callable
from typing import Any

from assembly.engine.detail_levels import derive_levels
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import TextLevel, text_hash
from assembly.pipeline.level_derivation import derive_levels_of_items, noted_levels_derive
from memories.models import Job

LONG = (
    "Ada: Thanks a lot for asking how it went. We met Laura on the set of Blue Horizon Studios in 2019, and she "
    "recommended the event to us. It would be nice to hear what everybody thinks about all that. The budget for the "
    "trip to Lisbon is 12,400 euros, of which 3,000 are spent already. I hope that this is of some use to somebody. "
    "Whatever you prefer is fine with me, as ever. Have a good day, and let me know whether there is anything else "
    "that I could do for you at the moment, since I have little else to do while the rain goes on and on."
)
"""About 110 tokens."""
OTHER = LONG.replace("Laura", "Nora").replace("Lisbon", "Porto")


def extracted(text: str) -> dict[str, str]:
    return {str(level): short for level, short in derive_levels(text, get_tokenizer("cl100k_base")).items()}


def stored_levels(text: str, **fields: Any) -> dict[str, str]:
    """The stored levels of the text, by their names."""
    rows = TextLevel.objects.filter(text_sha256=text_hash(text), **fields)
    return dict(rows.values_list("level", "text"))


def run_jobs() -> int:
    """Create the jobs for what was saved, run all that wait, and return how many there were."""
    noted_levels_derive()
    jobs = list(Job.objects.filter(kind="derive_levels", status="queued"))
    for job in jobs:
        steps: list[int] = []
        advance: Callable[[int], None] = steps.append
        derive_levels_of_items(job, advance)
        assert sum(steps) == job.steps
        Job.objects.filter(id=job.id).update(status="done")
    return len(jobs)
