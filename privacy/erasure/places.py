"""Every column of the database that can hold text has a policy here; a test compares this list with the catalogue.

| treatment | what an erasure does |
|---|---|
| replaced | the spellings become `[erased]`; the row stays |
| deleted | rows with a spelling are deleted: what is computed again, or is stored for a short time only |
| emptied | all rows are deleted, because nobody can search them: packed files and sealed caches |
| recorded | parts of recorded contexts, which `privacy.erasure.records` erases with a seal |
| own | the rows of the subject itself, which `privacy.erasure.live_rows` erases |
| untouched | holds no text about anybody; the reason is in `UNTOUCHED_REASONS` |

`thing` is the column with the id, or the ref, of the thing that a row belongs to: what is not about the person, though
it has the same spelling, is spared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Treatment(StrEnum):
    """What an erasure does with a table."""

    REPLACED = "replaced"
    DELETED = "deleted"
    EMPTIED = "emptied"
    RECORDED = "recorded"
    OWN = "own"
    UNTOUCHED = "untouched"


@dataclass(frozen=True, slots=True)
class Place:
    """A table: how its columns are treated, and which of its columns hold no text about anybody."""

    table: str
    treatment: Treatment
    columns: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    thing: str = "id"
    schema: str = "public"


def _replaced(table: str, columns: str, untouched: str = "", thing: str = "id") -> Place:
    return Place(table, Treatment.REPLACED, tuple(columns.split()), tuple(untouched.split()), thing)


def _deleted(table: str, columns: str, untouched: str = "", thing: str = "id") -> Place:
    return Place(table, Treatment.DELETED, tuple(columns.split()), tuple(untouched.split()), thing)


def _emptied(table: str, columns: str, untouched: str = "") -> Place:
    return Place(table, Treatment.EMPTIED, tuple(columns.split()), tuple(untouched.split()))


def _of(treatment: Treatment, table: str, columns: str, untouched: str = "") -> Place:
    return Place(table, treatment, tuple(columns.split()), tuple(untouched.split()))


def _untouched(table: str, columns: str, schema: str = "public") -> Place:
    return Place(table, Treatment.UNTOUCHED, (), tuple(columns.split()), schema=schema)


SIGNED = "updated_by editor_ref origin"
VECTORS = "embedding embedding_model second_embedding second_embedding_model"
HALVES = "embedding_half second_embedding_half"
TIERED = "tier packed frozen"

PLACES: tuple[Place, ...] = (
    # Files, logs and their versions
    _replaced("agent_md_files", "editor_name content", f"{SIGNED} file_key"),
    _replaced("agent_md_file_versions", "editor_name content note", f"{SIGNED} sha256", "file_id"),
    _replaced("team_md_files", "editor_name content", f"{SIGNED} file_key"),
    _replaced("team_md_file_versions", "editor_name content note", f"{SIGNED} sha256", "file_id"),
    _replaced("organisation_files", "editor_name content title", f"{SIGNED} file_key"),
    _replaced("organisation_file_versions", "editor_name content title note", f"{SIGNED} sha256", "file_id"),
    _replaced("daily_logs", "editor_name content", SIGNED),
    _replaced("daily_log_versions", "editor_name content note", f"{SIGNED} sha256", "file_id"),
    _replaced("drafts", "content", "about"),
    _replaced("texts_set_aside", "content", "about"),
    _replaced("profiles", "editor_name content", f"{SIGNED} name"),
    _replaced("profile_versions", "editor_name content note", f"{SIGNED} sha256", "file_id"),
    _replaced("rules", "editor_name content", f"{SIGNED} name"),
    _replaced("rule_versions", "editor_name content note", f"{SIGNED} sha256", "file_id"),
    # Memories and structured knowledge
    _replaced(
        "memories",
        "editor_name kind text external_id retired_because",
        f"{SIGNED} {VECTORS} {TIERED} language search",
    ),
    _replaced(
        "memory_versions", "editor_name content kind note retired_because", f"{SIGNED} sha256 language", "file_id"
    ),
    _replaced("documents", "editor_name external_id path content", f"{SIGNED} {TIERED} language"),
    _replaced("events", "editor_name external_id type content outcome tool", f"{SIGNED} {TIERED}"),
    _replaced(
        "entities", "editor_name external_id type name aliases names properties", f"{SIGNED} {VECTORS}"
    ),
    _replaced("relations", "editor_name external_id type", SIGNED),
    _replaced("patterns", "editor_name external_id name keywords entity_types guidance", f"{SIGNED} intents"),
    _replaced("threads", "editor_name external_id title summary", f"{SIGNED} status"),
    _replaced("tools", "editor_name external_id name description schema", f"{SIGNED} {VECTORS}"),
    _replaced("task_frames", "editor_name external_id goal result", f"{SIGNED} status"),
    _replaced("sessions", "editor_name external_id title", SIGNED),
    # What is computed from them
    _deleted("chunks", "text", f"{VECTORS} {HALVES} language search", "document_id"),
    _deleted("file_passages", "text", f"{VECTORS} file_kind language search", "file_id"),
    _deleted("text_levels", "text", "text_sha256 level deriver", "item"),
    _replaced(
        "conflicts",
        "cue left_statement right_statement reasoning reason resolver_name",
        "kind left_ref left_sha256 right_ref right_sha256 strategy status gone_because resolution resolved_by model",
    ),
    _replaced("conflict_decisions", "reason effects by_name", "action resolution by_ref", "conflict_id"),
    # Recorded contexts
    _of(
        Treatment.RECORDED,
        "assemblies",
        "topic body agent_name team_name requester_name",
        "agent_slug team_slug requested_by purpose profile_name tokenizer warnings codes sha256",
    ),
    _of(Treatment.RECORDED, "pieces", "ref named facts", "sha256 text_sha256"),
    _of(Treatment.RECORDED, "stored_texts", "text sealed", "sha256"),
    _untouched("unused_keys", "key"),
    _untouched("summaries", "text_sha256 model summary_sha256"),
    _untouched("token_counts", "text_sha256 tokenizer"),
    _untouched("record_erasures", "by_ref piece_hashes refs columns hashes report"),
    _untouched("prunings", "by_ref hashes"),
    _untouched("seals", "previous hashes pruning_sha256 erasure_sha256 sha256"),
    # What people and agents said about contexts
    _replaced("assembly_feedback", "giver_name used useless note", "given_by"),
    _replaced("assembly_flags", "by_name note", "by_ref", "assembly"),
    _untouched("assembly_quality", "profile_name"),
    _replaced("proposals", "agent_name team_name wishes note proposer_name decider_name",
        "agent_slug team_slug basis proposed_by status decided_by"),
    _replaced("recall_tests", "editor_name name topic expectations", f"{SIGNED} profile"),
    _replaced("recall_results", "agent_name fault outcomes requester_name",
        "agent_slug trigger profile_name requested_by", "test_id"),
    _replaced("publication_guards", "setter_name", "about set_by"),
    # Monitoring and activity
    _replaced("activities", "actor_name target detail reason", "actor action about address"),
    _replaced("alerts", "agent_name team_name thing cause name detail seen_by settled_by",
        "agent_slug team_slug profile_name kind seen_by_ref settled_by_ref"),
    _replaced("readings", "actor_name reason", "actor kind counts address route"),
    _untouched("notifications", "kind"),
    _replaced("follow_failures", "error", thing="assembly"),
    _deleted("webhook_deliveries", "body answer fault", "event"),
    _replaced("webhooks", "editor_name label", f"{SIGNED} url events sealed_secret sealed_before"),
    _untouched("context_counts", "layers cut left_out late failed warnings durations quality_counts quality_sums"),
    _untouched("file_losses", "ref"),
    _replaced("lifecycle_reports", "things detail", "step"),
    _replaced("learned_weights", "by_name", "profile state own_weights weights by_ref"),
    _untouched("learned_weight_reports", "profile detail"),
    _replaced("profile_tunings", "changer_name", "profile_name change changed_by"),
    _untouched("tuning_windows", "profile_name"),
    _untouched("thing_uses", "kind"),
    _untouched("tier_checks", "of_table"),
    _untouched("uncompared_items", "kind"),
    _untouched("unlevelled_items", "kind"),
    # Settings
    _replaced("agents", "name instructions", "slug timezone profile"),
    _replaced("teams", "name", "slug secret_handling reading_reasons"),
    _replaced("api_keys", "name creator_name", "lookup hash scopes created_by"),
    _untouched("api_key_grants", "granted_by"),
    _replaced("external_sources", "editor_name label", f"{SIGNED} name url sealed_secret"),
    _replaced("kv_policy_versions", "by_name note", "content_type policy by_ref"),
    _untouched("requested_policies", "policy"),
    _replaced("retention_policies", "editor_name", SIGNED),
    _untouched("quota_limits", "subject"),
    _untouched("daily_uses", "subject"),
    _untouched("embedding_space", "model slot next_model"),
    _untouched("erasures", "kind by_ref"),
    # What is stored for a short time
    _emptied("context_file_parts", "content place"),
    _emptied("context_files", "parameters", "requested_by format visibility"),
    _emptied("import_plans", "file_name archive steps aside chosen outcome refusal",
        "requested_by status visibility"),
    _emptied("idempotent_requests", "path key headers body reach", "principal method body_sha256"),
    _deleted("memory_requests", "request_id", "principal body_sha256"),
    _emptied("shared_cache", "key value"),
    _replaced("jobs", "arguments error", "kind status requested_by"),
    _untouched("presences", "about"),
    _untouched("last_writes", "caller"),
    _untouched("sign_in_limits", "bucket"),
    # Subjects
    _of(Treatment.OWN, "subjects", "name note creator_name updater_name restricter_name",
        "kind created_by updated_by restricted_by"),
    _of(Treatment.OWN, "subject_versions", "name note identifiers by_name", "kind by_ref"),
    _of(Treatment.OWN, "subject_identifiers", "value normalised", "kind"),
    _of(Treatment.OWN, "subject_mentions", "spellings decider_name", "ref_kind status decided_by"),
    _of(Treatment.OWN, "subject_files", "content", "requested_by requester_name"),
    _of(Treatment.OWN, "subject_scans", "place", "requested_by"),
    _of(Treatment.OWN, "subject_corrections", "wrong right reason requester_name told", "kind chosen requested_by"),
    _of(Treatment.OWN, "subject_correction_results", "sealed_before detail", "ref_kind status"),
    _untouched("withheld_things", "table_name"),
    _replaced("legal_holds", "reason setter_name lifter_name", "kind set_by lifted_by"),
    _of(Treatment.OWN, "subject_erasures", "sealed_spellings",
        "requested_by requester_name reason state blocked_because whole spared steps vectors report repeats sha256"),
    # People who sign in, and tables of Django
    _untouched("users", "password username name email theme time_zone"),
    _untouched("account_emailaddress", "email"),
    _untouched("account_emailconfirmation", "key"),
    _untouched("mfa_authenticator", "type data"),
    _untouched("browser_sessions", "digest session_data address browser"),
    _untouched("memberships", "role"),
    _untouched("auth_group", "name"),
    _untouched("auth_permission", "name codename"),
    _untouched("django_content_type", "app_label model"),
    _untouched("django_migrations", "app name"),
    # The queue of jobs: messages are ids of jobs
    _untouched("q_dossier_jobs", "message headers", "pgmq"),
    _untouched("a_dossier_jobs", "message headers", "pgmq"),
    _untouched("meta", "queue_name", "pgmq"),
    _untouched("notify_insert_throttle", "queue_name", "pgmq"),
    _untouched("topic_bindings", "pattern queue_name compiled_regex", "pgmq"),
)  # fmt: skip

_WORDS = "One of a few fixed words or codes."
_REFS = "An id, or the ref of a person, a key or a thing, which has ids alone."
_HASHES = "A hash, or sealed with a key."
_SETTINGS = "A name or value that admins set, which addresses or programs depend on."
_NUMBERS = "Numbers by names of sections, sources or signals."
_ACCOUNT = "Belongs to somebody who signs in; their account is changed and deleted on its own page."
_FOLLOWS = "Follows from the text: it is removed and computed again together with it."
_TIERED = "A packed or archived text is first stored as it was written, then treated."

UNTOUCHED_REASONS: Mapping[str, str] = {
    **dict.fromkeys(
        [
            "updated_by", "origin", "file_key", "tier", "language", "intents", "status", "kind", "level",
            "strategy", "resolution", "action", "purpose", "profile_name", "tokenizer", "warnings", "codes",
            "basis", "gone_because", "trigger", "format", "event", "events", "change", "state", "step", "role", "theme",
            "file_kind", "content_type", "ref_kind", "table_name", "secret_handling", "reading_reasons", "method",
            "deriver", "of_table",
            "model", "type", "slot", "columns", "scopes",
        ],
        _WORDS,
    ),
    **dict.fromkeys(
        [
            "editor_ref", "about", "left_ref", "right_ref", "resolved_by", "by_ref", "agent_slug", "team_slug",
            "requested_by", "given_by", "proposed_by", "decided_by", "set_by", "actor", "seen_by_ref",
            "settled_by_ref", "ref", "refs", "changed_by", "granted_by", "created_by", "subject", "principal",
            "caller", "lifted_by", "restricted_by", "requester_name", "spared", "whole", "steps", "route",
            "message", "headers", "visibility", "chosen",
        ],
        _REFS,
    ),
    **dict.fromkeys(
        [
            "sha256", "text_sha256", "summary_sha256", "left_sha256", "right_sha256", "piece_hashes", "hashes",
            "previous", "pruning_sha256", "erasure_sha256", "body_sha256", "digest", "lookup", "hash",
            "sealed_secret", "sealed_before", "bucket", "vectors", "password",
        ],
        _HASHES,
    ),
    **dict.fromkeys(
        [
            "name", "slug", "timezone", "profile", "url", "policy", "next_model", "queue_name", "pattern",
            "compiled_regex", "app", "app_label", "codename",
        ],
        _SETTINGS,
    ),
    **dict.fromkeys(
        [
            "counts", "layers", "cut", "left_out", "late", "failed", "durations", "quality_counts",
            "quality_sums", "own_weights", "weights", "detail",
        ],
        _NUMBERS,
    ),
    **dict.fromkeys(["username", "email", "time_zone", "key", "data", "session_data", "address", "browser"], _ACCOUNT),
    **dict.fromkeys(f"{VECTORS} {HALVES} search".split(), _FOLLOWS),
    **dict.fromkeys(["packed", "frozen"], _TIERED),
    "repeats": "The number and time of an erasure.",
    "report": "Says what was erased in numbers, and has no texts.",
    "reason": "Is refused when it names the person.",
    "blocked_because": "A sentence of Dossier about what an erasure waits for.",
}  # fmt: skip
"""Why a column is left as it is, by its name."""

EMPTIED_REASON = "Nobody can search it: it is packed or sealed, and stored for a short time."


def places_of(*treatments: Treatment) -> list[Place]:
    """Return the places with one of these treatments, in the order in which they are treated."""
    return [place for place in PLACES if place.treatment in treatments]
