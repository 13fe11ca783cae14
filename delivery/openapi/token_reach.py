"""What a token of one engagement reaches. What stands here in no set is refused to it.

Rows are filtered by `visible_to` as ever; this table decides about whole parts of the API, so that
what knows no engagement (accounts, tokens, channels, portfolio views) is closed without a filter.
"""

from rest_framework.permissions import SAFE_METHODS, BasePermission

from engagements.access import refuse_limited_token

# Rows of an engagement: read and written as the owner's role allows.
OF_ENGAGEMENTS = frozenset({
    "acceptance-terms", "acceptance-waivers", "agreements", "allowed-differences",
    "api-routes", "artifacts", "baselines",
    "board", "bundles", "chain-runs", "change-proposals", "change-requests", "comparisons",
    "config-checks", "criteria", "criteria-sets", "deliverables", "documents", "effort-estimates",
    "engagements", "human-evaluations", "human-ratings", "jobs", "measurements", "meetings",
    "memberships", "models", "optimisation-rounds", "outstanding-issues", "performance",
    "plan-dependencies", "plan-tasks", "planned-versions", "plans", "powers-of-attorney",
    "project-issues", "quotes", "regression-runs", "reviews", "risks", "source-scans",
    "stage-waivers", "stages", "surveys", "third-party-reports", "time-entries", "timesheets",
    "todos", "trial-issues", "uploads", "verdicts", "waivers", "warranty-claims",
    "weekly-reports"})
# What work in an engagement chooses from: read only.
CATALOGUES = frozenset({
    "agents", "audit-entries", "currencies", "customers", "definitions", "document-chains",
    "document-company", "document-texts", "job-chains", "job-kinds", "job-templates", "nodes",
    "questionnaires", "rate-cards", "rules", "runtime-choices", "runtimes", "tax-rates"})


class WithinReach(BasePermission):
    """Refuses a token of one engagement whatever does not belong to it."""

    def has_permission(self, request, view) -> bool:
        token = getattr(request.user, "token", None)
        part = request.path_info.split("/")[3]  # /api/v1/PART/…
        if token is None or not token.engagement_id or part in OF_ENGAGEMENTS or (
                part in CATALOGUES and request.method in SAFE_METHODS) or (
                part == "tokens" and view.kwargs.get("pk") == str(token.pk)):  # it may end itself
            return True
        refuse_limited_token(request.user)
        return False
