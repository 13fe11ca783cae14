"""Writes of this app, by topic. Each function owns its transaction, lock and audit entry."""

from workers.services.api_routes import record_routes
from workers.services.artifacts import correct_purpose, read_again, upload_artifact
from workers.services.jobs import (
    cancel_job,
    check_for_models,
    hold_job,
    queue_for_models,
    queue_job,
    queue_jobs,
    release_job,
    retry_job,
    set_priority,
)
from workers.services.nodes import (
    confirm_host_key,
    delete_node,
    enrol_node,
    fetch_new_host_key,
    retire_node,
    set_maintenance,
)

__all__ = [
    "cancel_job",
    "check_for_models",
    "confirm_host_key",
    "correct_purpose",
    "delete_node",
    "enrol_node",
    "fetch_new_host_key",
    "hold_job",
    "queue_for_models",
    "queue_job",
    "queue_jobs",
    "read_again",
    "record_routes",
    "release_job",
    "retire_node",
    "retry_job",
    "set_maintenance",
    "set_priority",
    "upload_artifact",
]
