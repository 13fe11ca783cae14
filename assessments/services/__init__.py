"""Writes of this app, by topic. Each function owns its transaction, lock and audit entry."""

from assessments.services.allowlist import (
    propose_difference,
    propose_differences,
    review_difference,
    withdraw_difference,
)
from assessments.services.baselines import record_baseline
from assessments.services.comparisons import index_comparison
from assessments.services.criteria import (
    add_criterion,
    add_ready_set,
    draft_criteria,
    remove_criterion,
)
from assessments.services.criteria_signing import (
    confirm_criteria,
    content_hash,
    criteria_facts,
    customers_confirmation,
    sign_criteria,
)
from assessments.services.definitions import (
    add_definition_version,
    load_standard_definitions,
)
from assessments.services.human_evaluation import (
    conclude_evaluation,
    import_rating,
    remove_rating,
    start_evaluation,
)
from assessments.services.measurements import (
    accept_and_judge,
    judge_affected,
    judge_criterion,
    judge_engagement,
    measure_artifact,
    measure_file,
    newest_measurement,
)
from assessments.services.rounds import record_round, remove_last_round, set_round_kept

__all__ = [
    "accept_and_judge",
    "add_criterion",
    "add_definition_version",
    "add_ready_set",
    "conclude_evaluation",
    "confirm_criteria",
    "content_hash",
    "criteria_facts",
    "customers_confirmation",
    "draft_criteria",
    "import_rating",
    "index_comparison",
    "judge_affected",
    "judge_criterion",
    "judge_engagement",
    "load_standard_definitions",
    "measure_artifact",
    "measure_file",
    "newest_measurement",
    "propose_difference",
    "propose_differences",
    "record_baseline",
    "record_round",
    "remove_criterion",
    "remove_last_round",
    "remove_rating",
    "review_difference",
    "set_round_kept",
    "sign_criteria",
    "start_evaluation",
    "withdraw_difference",
]
