"""Settings of the published schema: what it is called, and the names of its enumerations."""

# Names in the schema of choices that several fields share.
ENUM_NAMES = {
    "WayOfAnswerEnum": "delivery.quotes.models.answer.QuoteAnswer.Way",
    "StageStateEnum": "engagements.stages.StageState",
    "StageEnum": "engagements.stages.Stage",
    "EngagementStateEnum": "engagements.models.engagement.Engagement.State",
    "JobStateEnum": "workers.models.job.JobState",
    "NodeStateEnum": "workers.models.node.Node.State",
    "NodeConditionLevelEnum": "workers.nodes.conditions.LEVELS",
    "ChannelKindEnum": "delivery.notices.channel_kinds.channel_choices",
    "LanguageEnum": "delivery.settings.LANGUAGES",
    "ChannelStateEnum": "delivery.notices.models.channel.Channel.State",
    "EventKindEnum": "delivery.notices.event_kinds.CODES",
    "QuoteStateEnum": "delivery.quotes.models.Quote.State",
    "WorkItemEnum": "delivery.planning.models.effort.WorkItem",
    "GradeEnum": "delivery.planning.models.effort.Grade",
    "QuotedGradeEnum": "delivery.quotes.snapshot.GRADES",
    "DocumentStateEnum": "delivery.reports.models.Document.State",
    "RenderJobStateEnum": "delivery.reports.models.RenderJob.State",
    "CriteriaStateEnum": "assessments.models.criteria.CriteriaSet.State",
    "EstimateStateEnum": "delivery.planning.models.effort.EffortEstimate.State",
    "RiskStateEnum": "delivery.planning.models.control.Risk.State",
    "RiskLevelEnum": "delivery.planning.models.control.Risk.Level",
    "IssueLevelEnum": "delivery.planning.models.control.ProjectIssue.Level",
    "WeeklyReportStateEnum": "delivery.planning.models.control.WeeklyReport.State",
    "ChangeCategoryEnum": "delivery.planning.models.change.ChangeRequest.Category",
    "ReviewDecisionEnum": "delivery.acceptance.models.review.Review.Decision",
    "ChosenDecisionEnum": "delivery.acceptance.models.review.CHOSEN",
    "ReviewActionEnum": "delivery.acceptance.review.transitions.ReviewAction",
    "PriceCategoryEnum": "delivery.quotes.models.PriceLine.Category",
    "StageMoveEnum": "engagements.stages.StageMove",
    "QuoteMoveEnum": "delivery.quotes.transitions.QuoteMove",
    "DocumentMoveEnum": "delivery.reports.transitions.DocumentMove",
    "SurveyMoveEnum": "delivery.surveys.transitions.SurveyMove",
    "ChangeMoveEnum": "delivery.planning.changes.transitions.ChangeMove",
    "TimesheetMoveEnum": "delivery.planning.time.transitions.TimesheetMove",
    "WeeklyMoveEnum": "delivery.planning.control.transitions.WeeklyMove",
    "JobMoveEnum": "workers.dispatch.transitions.JobMove",
    "TokenScopeEnum": "engagements.models.api_token.ApiToken.Scope",
    "ScopeEnum": "engagements.stages.Scope",
    "RoleEnum": "engagements.permissions.Role",
    "ApprovalRoleEnum": "delivery.reports.models.approval.WITHIN_THE_FIRM",
    "ApprovalActionEnum": "delivery.reports.models.approval.Step.Action",
    "ChangeStateEnum": "delivery.planning.models.change.ChangeRequest.State",
}


def spectacular_settings(version: str) -> dict:
    """drf-spectacular's settings of the API of release `version`."""
    return {
        "TITLE": "Delivery Desk",
        "DESCRIPTION": (
            "GPU to Ascend NPU migration delivery: engagements, jobs, verdicts, documents."),
        "VERSION": version,
        "SERVE_INCLUDE_SCHEMA": False,
        "SWAGGER_UI_DIST": "SIDECAR",
        "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
        "REDOC_DIST": "SIDECAR",
        "COMPONENT_SPLIT_REQUEST": True,
        "ENUM_NAME_OVERRIDES": ENUM_NAMES,
    }
