"""The body of a record: what has no column of its own, as compressed JSON. Pure.

What is on record of an agent in a team, by value: who may see it.

What records are made of, stored once however many of them share it.

The record of assemblies: append-only, without keys into what it describes, so that it survives all of it.
"""

import hashlib
import json
import zlib
from functools import cached_property
from threading import Lock
from typing import Any, Self, TypeVar

import orjson
from cachetools import LRUCache
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex
from django.db import models
from isal import isal_zlib
from uuid_utils.compat import uuid7

from agents.models import Agent
from teams.models import Team
from teams.principal import Principal

COMPRESSION_LEVEL = 2
BODY_FORMAT = b"\x01"
"""Stands first, so that another way of packing can follow one day."""


def packed(contents: dict[str, Any]) -> bytes:
    """The bytes for these JSON-safe contents."""
    # zlib makes a twentieth less of it, in twice the time; what is packed is the same to it.
    return BODY_FORMAT + isal_zlib.compress(_dump_json(contents), COMPRESSION_LEVEL)


def unpacked(body: bytes) -> dict[str, Any]:
    """The contents of these bytes. Raises ValueError for what `packed` did not make."""
    if body[:1] != BODY_FORMAT:
        raise ValueError("The body of this record is of no known format.")
    try:
        contents = json.loads(zlib.decompress(body[1:]))
    except zlib.error:
        raise ValueError("The body of this record cannot be read.") from None
    if not isinstance(contents, dict):
        raise ValueError("The body of this record holds something else.")  # noqa: TRY004 - one error for all
    return contents


def _dump_json(contents: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(contents)
    except TypeError:  # of whole numbers beyond 64 bits
        return json.dumps(contents, separators=(",", ":"), ensure_ascii=False).encode()


Row = TypeVar("Row", bound=models.Model)


class VisibleQuerySet(models.QuerySet[Row]):
    """Rows with the columns `agent_id` and `team_id`, None for no team."""

    def visible_to(self, principal: Principal) -> Self:
        """Those whose agent *and* team the principal may read; once one of them is gone, admins alone."""
        if principal.is_admin:
            return self
        agents = Agent.objects.visible_to(principal).values("id")
        teams = Team.objects.visible_to(principal).values("id")
        return self.filter(models.Q(team_id__in=teams) | models.Q(team_id=None), agent_id__in=agents)


class StoredText(models.Model):
    """A text that some assembly considered."""

    append_only = True

    sha256 = models.BinaryField(primary_key=True, max_length=32)
    text = models.TextField()

    class Meta:
        db_table = "stored_texts"


def text_hash(text: str) -> bytes:
    """The key under which a text is stored: 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


class Piece(models.Model):
    """Something that assemblies considered, as its source offered it: everything but what depends on the question.

    `id` is eight bytes of `sha256`, that of the whole piece, so that it is the same wherever the piece is stored.
    `named` is the ref without its version. `facts` is JSON, without the ref and the text.
    """

    append_only = True

    id = models.BigIntegerField(primary_key=True)
    sha256 = models.BinaryField(max_length=32)
    ref = models.CharField(max_length=160)
    named = models.CharField(max_length=160)
    text_sha256 = models.BinaryField(max_length=32)
    facts = models.JSONField()

    class Meta:
        db_table = "pieces"
        indexes = [
            models.Index(fields=["named"], name="piece_named"),
            models.Index(fields=["text_sha256"], name="piece_text"),
        ]


class Purpose(models.TextChoices):
    """Why a context was requested. Counts, alerts and the uses of memories are of contexts for agents alone."""

    AGENT = "agent", "Agent"
    PREVIEW = "preview", "Preview"
    TEST = "test", "Test"

    @classmethod
    def default_for(cls, principal: Principal) -> "Purpose":
        """Return the purpose of a request that names none: a person looks, a key works."""
        return cls.PREVIEW if principal.kind == "person" else cls.AGENT


# Records that were made before there were purposes have none; who requested them tells.
PURPOSE_SQL = "CASE WHEN purpose <> '' THEN purpose WHEN requested_by LIKE 'person:%%' THEN 'preview' ELSE 'agent' END"

MAX_CACHED_PROFILES = 256
PENDING_KB = 512
"""So much of an index waits to be put in its place. Whoever comes with more does it for all: it must not take long."""


class AssemblyQuerySet(VisibleQuerySet["Assembly"]):
    def for_agents(self) -> "AssemblyQuerySet":
        """Return those that an agent requested: no previews, no tests."""
        before = models.Q(purpose="") & ~models.Q(requested_by__startswith="person:")
        return self.filter(models.Q(purpose=Purpose.AGENT) | before)

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
    that a replay needs; `assembly.records.reader` reads it.
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
    purpose = models.CharField(max_length=10, blank=True, default="", db_default="")
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

    @property
    def effective_purpose(self) -> Purpose:
        """The purpose; of a record from before there were purposes, the one that its requester tells."""
        if self.purpose:
            return Purpose(self.purpose)
        return Purpose.PREVIEW if self.requested_by.startswith("person:") else Purpose.AGENT

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
        return load_profile(self.contents["profile"])

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
    """An assembly that is recorded, and of which nobody has taken notice yet: see `assembly.records.followers`."""

    assembly = models.UUIDField(primary_key=True)

    class Meta:
        db_table = "new_assemblies"


def load_profile(sha256: str) -> dict[str, Any]:
    """The profile whose JSON has this hash, in hexadecimal. What a hash names does not change."""
    with _profiles_lock:
        text = _profiles.get(sha256)
    if text is None:
        text = StoredText.objects.values_list("text", flat=True).get(sha256=bytes.fromhex(sha256))
        cache_profile(sha256, text)
    found: dict[str, Any] = orjson.loads(text)
    return found


def cache_profile(sha256: str, text: str) -> None:
    """Spare this process the look-up of a profile that it knows."""
    with _profiles_lock:
        _profiles[sha256] = text


_profiles: LRUCache[str, str] = LRUCache(MAX_CACHED_PROFILES)
_profiles_lock = Lock()
