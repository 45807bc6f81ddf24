"""Checking the record against its seals: everything that is not as it was sealed is a finding."""

from assembly.seals.verifying.findings import Finding, Tally
from assembly.seals.verifying.whole import verify

__all__ = ["Finding", "Tally", "verify"]
