"""Records of assemblies are append-only and have no foreign keys, so that they outlive everything they describe.

Texts and pieces are stored once, however many records share them. Facts without a column of their own are in a record's
body, as compressed JSON. Agent and team are stored by value, and determine who may see a record.
"""

import hashlib
import json
import sys
import zlib
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

import msgspec
import orjson
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex
from django.db import models
from isal import isal_zlib
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.models.encryption import ErasedText, RecordErased, StoredForm, read_body, read_text, seal_body
from config.caching.process_cache import ProcessCache
from config.keys.envelope import DataKey
from teams.models import Team
from teams.principal import Principal
from teams.sealing.fields import SealedJson, SealedRecordText
from teams.sensitivity import Sensitive, SensitiveManager, Sensitivity, clearances_for

COMPRESSION_LEVEL = 2
BODY_FORMAT, ENCRYPTED_FORMAT = b"\x01", b"\x02"
"""The first byte of a packed body, which identifies its format: compressed, or encrypted after it was compressed."""


ERASED = "[erased]"
"""What stands in the place of a person's names after their erasure, and of a whole text that is gone."""
EMPTY_CONTENTS = b'{"decisions":{"piece":[]},"erased":true,"profile":"","request":{},"sections":[],"sources":[]}'
EMPTIED_BODY = BODY_FORMAT + zlib.compress(EMPTY_CONTENTS)
"""The body of a record from which an erasure removed it: lists that show something of it have nothing to show."""


def packed(contents: dict[str, Any]) -> bytes:
    """Return the JSON-safe contents as compressed bytes, after the byte of the format."""
    # zlib makes a twentieth less of it, in twice the time; what is packed is the same to it.
    compressed: bytes = isal_zlib.compress(_dump_json(contents), COMPRESSION_LEVEL)
    return BODY_FORMAT + compressed


def encrypted(body: bytes, id_: UUID, key: DataKey) -> bytes:
    """Return a packed body encrypted for the assembly with this id."""
    return ENCRYPTED_FORMAT + seal_body(key, id_, body[len(BODY_FORMAT) :])


def compressed_body(body: bytes, id_: UUID, key: DataKey | None = None) -> bytes:
    """Return the compressed contents of a body, which is decrypted if it is encrypted; without `key`, it is fetched.

    Raises ValueError for other bytes than those made by `packed` for this id, RecordErased, KeyStoreUnavailable.
    """
    if body[:1] == ENCRYPTED_FORMAT:
        return read_body(id_, body[1:], key)
    if body[:1] != BODY_FORMAT:
        raise ValueError("The body of this record is of no known format.")
    return body[1:]


def unpacked(body: bytes, id_: UUID, key: DataKey | None = None) -> dict[str, Any]:
    """Return the contents of bytes made by `packed` for this id. Raises what `compressed_body` raises."""
    try:
        contents = msgspec.json.decode(isal_zlib.decompress(compressed_body(body, id_, key)))
    except (isal_zlib.IsalError, msgspec.DecodeError, UnicodeDecodeError):  # type: ignore[misc]  # its stub names an instance
        raise ValueError("The body of this record cannot be read.") from None
    if not isinstance(contents, dict):
        raise ValueError("The body of this record has another content.")  # noqa: TRY004 - one error for all
    return contents


def _dump_json(contents: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(contents)
    except TypeError:  # of whole numbers beyond 64 bits
        return json.dumps(contents, separators=(",", ":"), ensure_ascii=False).encode()


Row = TypeVar("Row", bound=models.Model)


class VisibleQuerySet(models.QuerySet[Row]):
    """Rows of a table with the columns `agent_id` and `team_id` (None: no team), filtered by permission."""

    def visible_to(self, principal: Principal) -> Self:
        """Return the rows whose agent *and* team the principal may read; if either is deleted, only admins may."""
        if principal.is_admin:
            return self
        agents = Agent.objects.visible_to(principal).values("id")
        teams = Team.objects.visible_to(principal).values("id")
        return self.filter(models.Q(team_id__in=teams) | models.Q(team_id=None), agent_id__in=agents)


class StoredText(models.Model):
    """A text that at least one assembly considered, stored once: in plain, or encrypted in `sealed`.

    `read_texts` of `assembly.models.encryption` returns it, however it is stored.
    """

    append_only = True

    sha256 = models.BinaryField(primary_key=True, max_length=32)
    text = models.TextField(null=True)  # noqa: DJ001 - null and "" differ: the first is encrypted
    sealed = models.BinaryField(null=True)

    class Meta:
        db_table = "stored_texts"
        constraints = [
            models.CheckConstraint(condition=models.Q(text=None) ^ models.Q(sealed=None), name="stored_text_once")
        ]


def text_hash(text: str) -> bytes:
    """Return the key under which a text is stored: its SHA-256, 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


class Piece(models.Model):
    """An item that assemblies considered, as its source offered it, without the values that depend on the topic.

    `id` is eight bytes of `sha256`, the hash of the whole piece, so it is the same in every database.
    `named` is the ref without its version. `facts` is JSON, without the ref and the text; it is sealed if the item is
    above internal: see `assembly.records.sealed_pieces`.
    """

    append_only = True

    id = models.BigIntegerField(primary_key=True)
    sha256 = models.BinaryField(max_length=32)
    ref = models.CharField(max_length=160)
    named = models.CharField(max_length=160)
    text_sha256 = models.BinaryField(max_length=32)
    facts: Any = SealedJson()

    class Meta:
        db_table = "pieces"
        indexes = [
            models.Index(fields=["named"], name="piece_named"),
            models.Index(fields=["text_sha256"], name="piece_text"),
        ]


class Purpose(models.TextChoices):
    """Why a context was requested. Statistics, alerts and the uses of memories count only contexts for agents."""

    AGENT = "agent", "Agent"
    PREVIEW = "preview", "Preview"
    TEST = "test", "Test"

    @classmethod
    def default_for(cls, principal: Principal) -> "Purpose":
        """Return the purpose of a request that names none: preview for a person, agent for a key."""
        return cls.PREVIEW if principal.kind == "person" else cls.AGENT


# Records that were made before there were purposes have none; who requested them tells.
PURPOSE_SQL = "CASE WHEN purpose <> '' THEN purpose WHEN requested_by LIKE 'person:%%' THEN 'preview' ELSE 'agent' END"

MAX_PROFILE_BYTES = 4_000_000
"""Bytes of memory for the cached JSON of profiles, some kilobytes each."""
PENDING_KB = 512
"""Kilobytes of pending entries of a GIN index; the request that exceeds them merges all, which must not take long."""


class AssemblyQuerySet(VisibleQuerySet["Assembly"]):
    def for_agents(self) -> "AssemblyQuerySet":
        """Return the assemblies that were requested for agents, without previews and tests."""
        before = models.Q(purpose="") & ~models.Q(requested_by__startswith="person:")
        return self.filter(models.Q(purpose=Purpose.AGENT) | before)

    def listed(self) -> "AssemblyQuerySet":
        """Return the assemblies without the large columns that lists do not show."""
        return self.defer("body", "told", "omitted", "codes")


class Assembly(Sensitive):
    """A recorded context, with everything it was made of.

    `told` and `omitted` are the ids of the pieces that are included in the context and of those that are excluded;
    `told` also has the other pieces of the record: its profile and its summaries. `codes` are the reason codes of its
    decisions. `parent` is the assembly to which an event was appended to make this one. `decided_in` is the assembly
    that this one repeats and shares its body with; that one may only be deleted along with the last that refers to it.
    Tokens and milliseconds are whole numbers. `body` holds, packed, everything without a column of its own: further
    parts of the request, the profile, sections and sources as the service, the engine and `gather` returned them, and
    the decisions. Together with the pieces, it is all that a replay needs; `assembly.records.reader` reads it.
    """

    append_only = True
    ref_kind = "context"

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
    topic = SealedRecordText(blank=True)
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

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id", "organisation": ""}
    owners_together = True
    outlives_agent = True

    objects: ClassVar = SensitiveManager.from_queryset(AssemblyQuerySet)()
    everything: ClassVar = models.Manager()

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
        """The purpose; for records older than the column, it is derived from the requester."""
        if self.purpose:
            return Purpose(self.purpose)
        return Purpose.PREVIEW if self.requested_by.startswith("person:") else Purpose.AGENT

    @cached_property
    def packed(self) -> bytes:
        """The packed body; if this assembly repeats another one, the body of that one."""
        return bytes(Assembly.objects.only("body").get(id=self.decided_in).body if self.decided_in else self.body)

    @cached_property
    def contents(self) -> dict[str, Any]:
        """The contents of the body, by name. Raises ValueError if the body was damaged, and RecordErased, which is one,
        if its key was destroyed.
        """
        return unpacked(self.packed, self.decided_in or self.id)

    @property
    def request(self) -> dict[str, Any]:
        """Parts of the request without a column: session, signals, filters, strategy, format, and the rules that fired.

        `repeats` is the id of the assembly that this one repeats.
        """
        asked: dict[str, Any] = self.contents["request"]
        return {**asked, "repeats": str(self.decided_in)} if self.decided_in else asked

    @property
    def profile(self) -> dict[str, Any]:
        """The profile that was used, as JSON-safe data."""
        return load_profile(self.contents["profile"])

    @property
    def sections(self) -> list[dict[str, Any]]:
        """The results of the sections, in order, as JSON-safe data."""
        found: list[dict[str, Any]] = self.contents["sections"]
        return found

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The reports of the sources, as JSON-safe data.

        How many items a source withheld is told to those who may read everything of the agent and the team.
        """
        found: list[dict[str, Any]] = self.contents["sources"]
        if not any("withheld" in report for report in found):
            return found
        if clearances_for(agent=self.agent_id, team=self.team_id).covers(
            Sensitivity.RESTRICTED, team=bool(self.team_id)
        ):
            return found
        return [{name: value for name, value in report.items() if name != "withheld"} for report in found]


class NewAssembly(models.Model):
    """An assembly that is recorded, but not processed by `assembly.records.followers` yet."""

    assembly = models.UUIDField(primary_key=True)

    class Meta:
        db_table = "new_assemblies"


class RaisedText(models.Model):
    """A text whose sensitivity rose: its id, its level, and when its recorded contexts are to be raised as well.

    A trigger writes the rows. `seen`: this was done, and is due once more: see `assembly.records.raised_levels`.
    """

    item = models.UUIDField(primary_key=True)
    level = models.SmallIntegerField()
    due = models.DateTimeField(db_index=True)
    seen = models.BooleanField(default=False)

    class Meta:
        db_table = "raised_texts"


def load_profile(sha256: str) -> dict[str, Any]:
    """Return the profile whose JSON has this SHA-256 (in hexadecimal), from the process's cache or the database."""
    text = _profiles.get(sha256)
    if text is None:
        row: StoredForm = StoredText.objects.values_list("sha256", "text", "sealed").get(sha256=bytes.fromhex(sha256))
        text = read_text(row)
        if isinstance(text, ErasedText):
            raise RecordErased.of_texts([text])
        cache_profile(sha256, text)
    found: dict[str, Any] = orjson.loads(text)
    return found


def cache_profile(sha256: str, text: str) -> None:
    """Cache the JSON of a profile under its SHA-256, so that this process does not read it from the database."""
    if sha256 not in _profiles:
        _profiles.put(sha256, text)


_profiles = ProcessCache[str, str]("profiles", MAX_PROFILE_BYTES, sys.getsizeof)
