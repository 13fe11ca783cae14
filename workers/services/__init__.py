"""Writes of this app, by topic. Each function owns its transaction, lock and audit entry."""

from workers.services.api_routes import record_routes
from workers.services.artifacts import read_again, upload_artifact
from workers.services.jobs import (
    cancel_job,
    check_for_models,
    queue_for_models,
    queue_job,
    queue_jobs,
    retry_job,
)
from workers.services.nodes import (
    confirm_host_key,
    enrol_node,
    fetch_new_host_key,
    set_maintenance,
)

__all__ = [
    "cancel_job",
    "check_for_models",
    "confirm_host_key",
    "enrol_node",
    "fetch_new_host_key",
    "queue_for_models",
    "queue_job",
    "queue_jobs",
    "read_again",
    "record_routes",
    "retry_job",
    "set_maintenance",
    "upload_artifact",
]
