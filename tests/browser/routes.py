"""Which addresses are pages: all routes that there are, but for those that show no page of their own."""

from collections.abc import Iterable, Iterator

from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

NO_PAGES = frozenset({
    # Documents for programs, and the page of the API, which is tried apart.
    "metrics", "context_download", "context_record_file", "api_docs",
    # Files.
    "context_bundle", "context_file_download", "file_losses_csv", "activity_csv", "reading_csv",
    "organisation_export_download", "team_export_download", "agent_export_download",
    # Only take what a form on a page sends, and lead back to a page.
    "context_replay", "context_feedback", "context_flag", "context_selection", "alert_selection",
    "agent_memory_selection",
    "team_memory_selection", "followers_retry", "size",
    "task_push", "thread_switch", "job_retry",
    "person_password", "person_sign_out", "browser_session_end", "other_browser_sessions_end",
    "organisation_file_restore",
    "agent_file_restore", "team_file_restore", "daily_log_restore", "profile_restore", "rule_restore",
    "tuning_switch", "tuning_reset", "learned_weights_learn", "learned_weights_switch",
    "profile_check", "rule_check", "rule_backtest", "rule_backtest_new", "rule_backtest_edited", "rule_switch",
    "memory_pin", "memory_bring_back", "memory_separate", "memory_restore", "import_apply",
    "proposal_decide", "recall_rule", "recall_rule_new", "recall_profile", "recall_test_run", "recall_test_archive",
    "context_recall_test", "publication_guard",
    "external_query", "external_switch", "team_member_role", "team_member_remove",
    "team_key_grant", "team_key_withdraw",
    "notification", "notifications_read_all", "alert_acknowledge", "first_steps_hide", "alert_resolve", "alert_reopen",
    "storage_report_undo",
    "conflict_resolve", "conflict_selection", "conflict_undo",
    "subject_scan", "subject_selection", "subject_correction_undo", "subject_file_download", "erasure_report",
    "webhook_secret_change", "webhook_test", "webhook_resend", "webhook_switch",
})  # fmt: skip


def page_routes() -> set[str]:
    """The names of all routes that show a page."""
    return {pattern.name for pattern in _patterns(get_resolver().url_patterns) if pattern.name} - NO_PAGES


def route_of(path: str) -> str:
    """The name of the route that answers a path; empty where there is none."""
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""


def _patterns(entries: Iterable[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for entry in entries:
        if isinstance(entry, URLPattern):
            yield entry
        elif str(entry.pattern) != "api/v1/":
            yield from _patterns(entry.url_patterns)
