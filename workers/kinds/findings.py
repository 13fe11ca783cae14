"""Findings that a job's page lists: severity, rule, file, line and what stands there."""

from typing import Any

MOST_FINDINGS = 100  # that a job keeps; its files hold them all
SEVERITIES = {"blocking": "block", "warning": "warn"}


def kept_findings(report: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a report's findings those that the job keeps, what blocks first."""
    rows = sorted(report, key=lambda row: row["severity"] != "blocking")
    return [{**row, "severity": SEVERITIES.get(row["severity"], "info")}
            for row in rows[:MOST_FINDINGS]]
