"""Tests whose answer depends on the database, for the second run on PostgreSQL (`--database-only`).

Constraints, locks and writers at once, the queue, JSON, search, sums, indexes and paging of lists,
migrations, and each page and list of the API once. The others test what no database changes; nor
do the slow ones of a package that talks to nodes.
"""

from pathlib import Path

PLACES = (
    "engagements/audit", "engagements/queue", "engagements/test_conflict_retry.py",
    "engagements/test_customer_isolation.py", "engagements/test_large_engagement.py",
    "engagements/test_leased_scheduler.py", "engagements/test_model_facts.py",
    "engagements/test_model_progress.py", "engagements/test_paging.py",
    "engagements/test_row_locks.py", "engagements/test_scoped_pages.py",
    "engagements/test_stage_waivers.py",
    "assessments/test_signed_sheets.py", "assessments/test_services.py",
    *(f"delivery/acceptance/services/test_{name}.py" for name in (
        "contract_terms", "powers_of_attorney", "receipts", "third_party_reports", "trial_run")),
    "delivery/evidence/verification/test_audited_rows.py", "delivery/knowledge",
    "delivery/next_steps/test_next_steps.py", "delivery/notices/test_inbox.py",
    *(f"delivery/operation/test_{name}.py" for name in (
        "audit_archiving", "audit_heads", "backup", "key_rotation", "observation", "older_rows",
        "stored_file_checks")),
    "delivery/planning/test_all_or_nothing.py",
    "delivery/planning/test_change_locks.py", "delivery/planning/test_scope_changes.py",
    "delivery/planning/test_timesheets.py",
    *(f"delivery/portal/test_{name}.py" for name in (
        "api", "audit_page", "auditor", "chart_figures", "home", "inbox", "portfolio", "search",
        "three_currencies")),
    "delivery/quotes/test_chain.py", "delivery/quotes/test_life.py",
    "delivery/reports/test_chains.py", "delivery/reports/test_facts_outside_transaction.py",
    "delivery/surveys/services/test_version_transfer.py",
    "delivery/test_races.py", "engagements/test_list_filters.py",
    *(f"workers/dispatch/test_{name}.py" for name in (
        "admission", "card_queue", "cleanup", "forecast", "node_polling", "runner", "staging")),
    "workers/gangs/test_gangs.py", "workers/test_batch_api.py",
    "workers/test_chains.py", "workers/test_job_cost.py", "workers/nodes/test_machines.py",
    "workers/artifacts/test_reading_requests.py",
    "test_api_lists.py", "test_list_queries.py", "test_migrations.py", "test_permissions.py",
)

QUICK_ALONE = ("workers/dispatch/", "workers/gangs/", "workers/nodes/")


def depends_on_database(test: Path, tests: Path) -> bool:
    place = test.relative_to(tests).as_posix()
    return any(place == one or place.startswith(f"{one}/") for one in PLACES)


def is_left_out(test, tests: Path) -> bool:
    """Whether a collected test of such a place does not depend on it after all."""
    place = test.path.relative_to(tests).as_posix()
    return place.startswith(QUICK_ALONE) and test.get_closest_marker("slow") is not None
