"""Property tests try fewer examples in `make test` than in `make test-deep`, which sets HYPOTHESIS_PROFILE=deep."""

import os

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
QUICK_SHARE = 4


def examples(number: int) -> int:
    """Return the number in `make test-deep`, and a quarter of it in `make test`, whose runs all draw others."""
    return number if DEEP else max(1, number // QUICK_SHARE)
