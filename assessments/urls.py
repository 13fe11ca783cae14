"""Routes of criteria, baselines and verdicts."""

from django.urls import path

from assessments.views import (
    accuracy,
    baselines,
    config_check,
    criteria,
    criterion,
    curves,
    definitions,
    human_evaluation,
    performance,
    training_runs,
)

app_name = "assessments"
SET = "engagements/<str:code>/criteria/"
BASELINE = "baselines/<int:pk>/"
CRITERION = "criteria/<int:pk>/"
FILE = "files/<int:pk>/"
MODEL = "models/<int:pk>/performance/"
RUNS = "models/<int:pk>/runs/"
ROUND = "rounds/<int:pk>/"
HUMAN = "human-evaluations/<int:pk>/"
CONFIG = FILE + "config-check/"

urlpatterns = [
    path(SET, criteria.criteria, name="criteria"),
    path(SET + "draft/", criteria.criteria_draft, name="criteria_draft"),
    path(SET + "sign/", criteria.criteria_sign, name="criteria_sign"),
    path(SET + "confirm/", criteria.criteria_confirm, name="criteria_confirm"),
    path(SET + "judge/", criteria.criteria_judge, name="criteria_judge"),
    path(SET + "ready-set/", criteria.criteria_ready_set, name="criteria_ready_set"),
    path(SET + "new/", criteria.criterion_new, name="criterion_new"),
    path("engagements/<str:code>/baselines/new/", baselines.baseline_new, name="baseline_new"),
    path(BASELINE, baselines.baseline, name="baseline"),
    path(BASELINE + "confirm/", baselines.baseline_confirm, name="baseline_confirm"),
    path(BASELINE + "explain/", baselines.baseline_explain, name="baseline_explain"),
    path(BASELINE + "runs/", baselines.baseline_run, name="baseline_run"),
    path(CRITERION, criterion.criterion, name="criterion"),
    path(CRITERION + "judge/", criterion.criterion_judge, name="criterion_judge"),
    path(CRITERION + "measure/", criterion.criterion_measure, name="criterion_measure"),
    path(CRITERION + "remove/", criteria.criterion_remove, name="criterion_remove"),
    path(CRITERION + "waive/", criterion.criterion_waive, name="criterion_waive"),
    path(CRITERION + "waivers/<int:waiver>/sign/", criterion.waiver_sign, name="waiver_sign"),
    path(CRITERION + "waivers/<int:waiver>/revoke/", criterion.waiver_revoke, name="waiver_revoke"),
    path(CRITERION + "accept/", criterion.criterion_accept, name="criterion_accept"),
    path(CRITERION + "curve/range.json", curves.curve_range, name="curve_range"),
    path(CRITERION + "curve.json", curves.curve_spec, name="curve_spec"),
    path(CRITERION + "curve.svg", curves.curve_svg, name="curve_svg"),
    path("jobs/<int:pk>/curve.json", curves.job_curve_spec, name="job_curve_spec"),
    path("engagements/<str:code>/accuracy/", accuracy.accuracy, name="accuracy"),
    path(FILE + "operators/", accuracy.comparison, name="comparison"),
    path(FILE + "operators/index/", accuracy.comparison_index, name="comparison_index"),
    path(FILE + "operators/one/", accuracy.operator, name="operator"),
    path(FILE + "overflow/", accuracy.overflow_page, name="overflow"),
    path(CONFIG, config_check.config_check, name="config_check"),
    path(CONFIG + "propose/", config_check.config_propose, name="config_propose"),
    path(CONFIG + "<int:entry>/review/", config_check.config_review, name="config_review"),
    path(CONFIG + "<int:entry>/withdraw/", config_check.config_withdraw, name="config_withdraw"),
    path("engagements/<str:code>/human-evaluations/", human_evaluation.human_evaluations,
         name="human_evaluations"),
    path("engagements/<str:code>/human-evaluations/new/", human_evaluation.human_evaluation_new,
         name="human_evaluation_new"),
    path(HUMAN, human_evaluation.human_evaluation, name="human_evaluation"),
    path(HUMAN + "sheet.xlsx", human_evaluation.human_evaluation_sheet,
         name="human_evaluation_sheet"),
    path(HUMAN + "rate/", human_evaluation.human_evaluation_rate, name="human_evaluation_rate"),
    path(HUMAN + "conclude/", human_evaluation.human_evaluation_conclude,
         name="human_evaluation_conclude"),
    path("human-ratings/<int:pk>/remove/", human_evaluation.human_rating_remove,
         name="human_rating_remove"),
    path("engagements/<str:code>/performance/", performance.performance, name="performance"),
    path(MODEL, performance.model_performance, name="model_performance"),
    path(MODEL + "<slug:name>.json", performance.chart_json, name="performance_chart"),
    path(MODEL + "<slug:name>.svg", performance.chart_picture, name="performance_picture"),
    path(RUNS, training_runs.training_runs, name="training_runs"),
    path(RUNS + "compare/", training_runs.compare_training_runs, name="training_run_comparison"),
    path(RUNS + "compare.json", training_runs.training_runs_spec, name="training_run_curves"),
    path(MODEL + "rounds/new/", performance.round_new, name="round_new"),
    path(ROUND + "keep/", performance.round_keep, name="round_keep"),
    path(ROUND + "remove/", performance.round_remove, name="round_remove"),
    path("definitions/", definitions.definitions, name="definitions"),
    path("definitions/preview/", definitions.definition_preview, name="definition_preview"),
    path("definitions/<int:pk>/", definitions.definition, name="definition"),
    path("definitions/<int:pk>/new/", definitions.definition_new, name="definition_new"),
]
