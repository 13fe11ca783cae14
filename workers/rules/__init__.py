"""Validation rules as versioned data and the engine that applies them (DOMAIN 5)."""

from workers.rules import (  # noqa: F401  (importing declares the rules)
    accuracy,
    configuration,
    environment,
    inference,
    parallelism,
    source,
)
from workers.rules.base import (
    BLOCK,
    INFO,
    RULES,
    RULES_VERSION,
    SEVERITIES,
    WARN,
    Facts,
    Hit,
    NotChecked,
    Origin,
    Outcome,
    Rule,
    check,
)

__all__ = ["BLOCK", "INFO", "RULES", "RULES_VERSION", "SEVERITIES", "WARN", "Facts", "Hit",
           "NotChecked", "Origin", "Outcome", "Rule", "check"]
