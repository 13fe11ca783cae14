"""Tables of people, customers, engagements, models, stages, waivers and the audit log."""

from engagements.models.agent import Agent
from engagements.models.api_token import ApiToken
from engagements.models.audit import ArchivedEngagement, AuditArchive, AuditChain, AuditEntry
from engagements.models.delegation import Delegation
from engagements.models.duty_setting import DutySetting
from engagements.models.engagement import Customer, Engagement, Membership, MigratedModel
from engagements.models.idempotent_request import IdempotentRequest
from engagements.models.lease import Lease
from engagements.models.model_progress import ModelProgress
from engagements.models.search_entry import SearchEntry
from engagements.models.sign_in import SignIn
from engagements.models.stage import ChecklistItem, StageRecord, StageTransition
from engagements.models.stage_assignment import StageAssignment
from engagements.models.stage_comment import StageComment
from engagements.models.stage_waiver import StageWaiver
from engagements.models.user import User
from engagements.permissions import Role

__all__ = [
    "Agent",
    "ApiToken",
    "ArchivedEngagement",
    "AuditArchive",
    "AuditChain",
    "AuditEntry",
    "ChecklistItem",
    "Customer",
    "Delegation",
    "DutySetting",
    "Engagement",
    "IdempotentRequest",
    "Lease",
    "Membership",
    "MigratedModel",
    "ModelProgress",
    "Role",
    "SearchEntry",
    "SignIn",
    "StageAssignment",
    "StageComment",
    "StageRecord",
    "StageTransition",
    "StageWaiver",
    "User",
]
