"""What Celery's beat sends, and how often."""

# Name of the entry, task, seconds between two messages, seconds after which a message is dropped.
SCHEDULE = (
    ("expire-quotes", "quotes.expire", 3600, 3600),
    ("signed-copies", "acceptance.complete_copies", 300, 300),
    ("quotes-sweep", "quotes.sweep", 300, 300),
    ("planning-sweep", "planning.sweep", 300, 300),
    ("planned-days", "planning.refresh_planned_days", 10800, 3600),
    ("measured-figures", "knowledge.refresh_figures", 600, 600),
    ("documents-sweep", "reports.sweep", 15, 15),
    ("housekeeping", "workers.housekeeping", 3600, 600),
    ("watch-nodes", "workers.watch_nodes", 60, 60),
    ("imported-nodes", "workers.wake_looks", 30, 30),
    ("files-to-read", "workers.wake_readings", 15, 15),
    ("operator-index", "assessments.index_missing", 60, 60),
    ("check-files", "operation.check_files", 60, 60),
    ("lock-evidence", "operation.lock_evidence", 300, 300),
    ("fill-engagements", "operation.fill_engagements", 300, 300),
    ("notices-sweep", "notices.sweep", 10, 30),
    ("retention", "operation.retention", 3600, 600),
    ("directory-leavers", "operation.directory_leavers", 600, 600),
    ("notices-watch", "notices.watch", 300, 300),
)


def periodic_tasks(tick_seconds: float) -> dict:
    """Celery's beat schedule; the dispatch looks for due jobs every `tick_seconds`."""
    schedule = (("dispatch-tick", "workers.tick", tick_seconds, 60), *SCHEDULE)
    return {name: {"task": task, "schedule": float(seconds), "options": {"expires": expires}}
            for name, task, seconds, expires in schedule}
