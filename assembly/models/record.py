"""The record of assemblies: append-only, without keys into what it describes, so that it survives all of it."""

from functools import cached_property
from typing import Any

import orjson
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex
from django.db import models
from uuid_utils.compat import uuid7

from assembly.models.body import unpacked
from assembly.models.piece import StoredText
from assembly.models.seen import SeenQuerySet

MOST_PROFILES = 256
PENDING_KB = 512
"""So much of an index waits to be put in its place. Whoever comes with more does it for all: it must not take long."""


class AssemblyQuerySet(SeenQuerySet["Assembly"]):
    def listed(self) -> "AssemblyQuerySet":
        """Without what only the record of each needs."""
        return self.defer("body", "told", "omitted", "codes")


class Assembly(models.Model):
    """One finished context with everything it was made of.

    `told` and `omitted` are the ids of the pieces that are in the context and of those that were left out; what else
    the record is made of, its profile and its summaries, is among those told. `codes` are the reasons that were given.
    `parent` is the assembly that this one was made from by adding an event. `decided_in` is the one that this repeats:
    its body is this one's, too, so it may go only along with the last that refers to it. Tokens and milliseconds are
    whole numbers. `body` holds what has no column of its own, packed: what was asked for besides, the profile, sections
    and sources as the service, the engine and `gather` gave them, and the decisions. Together with the pieces it is all
    that a replay needs; `assembly.recorded` reads it.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField()
    agent_id = models.UUIDField()
    agent_slug = models.CharField(max_length=60)
    agent_name = models.CharField(max_length=120)
    team_id = models.UUIDField(null=True)
    team_slug = models.CharField(max_length=60, blank=True)
    team_name = models.CharField(max_length=120, blank=True)
    requested_by = models.CharField(max_length=80)
    requester_name = models.CharField(max_length=200, blank=True)
    parent = models.UUIDField(null=True, db_index=True)
    decided_in = models.UUIDField(null=True, db_index=True)
    topic = models.TextField(blank=True)
    profile_name = models.CharField(max_length=60)
    profile_version = models.PositiveIntegerField()
    tokenizer = models.CharField(max_length=60)
    now = models.DateTimeField()
    budget = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    truncated = models.BooleanField()
    left_out = models.PositiveIntegerField()
    warnings = models.JSONField()
    codes = ArrayField(models.CharField(max_length=30), default=list)
    told = ArrayField(models.BigIntegerField(), default=list)
    omitted = ArrayField(models.BigIntegerField(), default=list)
    sha256 = models.BinaryField(max_length=32)
    engine_version = models.PositiveSmallIntegerField()
    assembly_ms = models.PositiveIntegerField()
    body = models.BinaryField(default=b"")

    objects = AssemblyQuerySet.as_manager()

    class Meta:
        db_table = "assemblies"
        indexes = [
            models.Index(fields=["-created", "-id"], name="assembly_newest"),
            models.Index(fields=["agent_id", "-created", "-id"], name="assembly_agent_newest"),
            models.Index(fields=["team_id", "-created", "-id"], name="assembly_team_newest"),
            models.Index(fields=["requested_by", "-created", "-id"], name="assembly_requester_newest"),
            models.Index(fields=["profile_name", "-created", "-id"], name="assembly_profile_newest"),
            GinIndex(fields=["told"], name="assembly_told", gin_pending_list_limit=PENDING_KB),
            GinIndex(fields=["omitted"], name="assembly_omitted", gin_pending_list_limit=PENDING_KB),
            GinIndex(fields=["codes"], name="assembly_codes", gin_pending_list_limit=PENDING_KB),
            # Slices of time, for searches: beside another index, one of all rows would take longer than the search.
            BrinIndex(fields=["created"], name="assembly_moments", pages_per_range=32, autosummarize=True),
        ]

    @cached_property
    def packed(self) -> bytes:
        """The body; of one that repeats another, that one's."""
        return bytes(Assembly.objects.only("body").get(id=self.decided_in).body if self.decided_in else self.body)

    @cached_property
    def contents(self) -> dict[str, Any]:
        """What the body holds, by name. Raises ValueError where somebody changed it."""
        return unpacked(self.packed)

    @property
    def request(self) -> dict[str, Any]:
        """What was asked for and has no column: session, signals, filters, strategy, format; and the rules that fired.

        `repeats` is the id of the assembly that this one repeats.
        """
        asked: dict[str, Any] = self.contents["request"]
        return {**asked, "repeats": str(self.decided_in)} if self.decided_in else asked

    @property
    def profile(self) -> dict[str, Any]:
        """The profile as it was used."""
        return profile_stored(self.contents["profile"])

    @property
    def sections(self) -> list[dict[str, Any]]:
        """What became of each section, in order."""
        found: list[dict[str, Any]] = self.contents["sections"]
        return found

    @property
    def sources(self) -> list[dict[str, Any]]:
        """What came of asking each source."""
        found: list[dict[str, Any]] = self.contents["sources"]
        return found


class NewAssembly(models.Model):
    """An assembly that is recorded, and of which nobody has taken notice yet: see `assembly.afterwards`."""

    assembly = models.UUIDField(primary_key=True)

    class Meta:
        db_table = "new_assemblies"


def profile_stored(sha256: str) -> dict[str, Any]:
    """The profile whose JSON has this hash, in hexadecimal. What a hash names does not change."""
    if sha256 not in _profiles:
        profile_known(sha256, StoredText.objects.values_list("text", flat=True).get(sha256=bytes.fromhex(sha256)))
    found: dict[str, Any] = orjson.loads(_profiles[sha256])
    return found


def profile_known(sha256: str, text: str) -> None:
    """Spare this process the look-up of a profile that it knows."""
    if sha256 not in _profiles:
        if len(_profiles) >= MOST_PROFILES:
            _profiles.clear()
        _profiles[sha256] = text


_profiles: dict[str, str] = {}
