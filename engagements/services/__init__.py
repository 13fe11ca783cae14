"""Writes of this app. Each function owns its transaction, lock and audit entry."""

from engagements.services.api_tokens import create_token, revoke_token
from engagements.services.bulk_stage_moves import BulkMove, move_stages
from engagements.services.checklists import tick_item
from engagements.services.customers import create_customer, update_customer
from engagements.services.delegations import delegate_duties, end_delegation
from engagements.services.duty_settings import set_people
from engagements.services.engagements import (
    cancel_engagement,
    close_engagement,
    create_engagement,
    lose_engagement,
    mark_practice,
    reopen_engagement,
    update_engagement,
)
from engagements.services.members import (
    add_member,
    add_members,
    remove_member,
    undo_member_removal,
)
from engagements.services.migrated_models import (
    add_model,
    drop_model,
    set_model_scope,
    update_model,
)
from engagements.services.people import (
    accept_invitation,
    add_person,
    change_password,
    reset_password,
    update_person,
)
from engagements.services.sign_ins import end_sign_ins, remember_sign_in
from engagements.services.stage_assignments import assign_stages, undo_assignments
from engagements.services.stage_comments import comment_on_stage, comment_on_stages
from engagements.services.stage_moves import first_open_before, follow_decision, move_stage
from engagements.services.stage_waivers import (
    draft_stage_waiver,
    may_sign,
    revoke_stage_waiver,
    sign_stage_waiver,
)
from engagements.services.undone_moves import can_be_undone, undo_move, undo_moves

__all__ = [
    "BulkMove",
    "accept_invitation",
    "add_member",
    "add_members",
    "add_model",
    "add_person",
    "assign_stages",
    "can_be_undone",
    "cancel_engagement",
    "change_password",
    "close_engagement",
    "comment_on_stage",
    "comment_on_stages",
    "create_customer",
    "create_engagement",
    "create_token",
    "delegate_duties",
    "draft_stage_waiver",
    "drop_model",
    "end_delegation",
    "end_sign_ins",
    "first_open_before",
    "follow_decision",
    "lose_engagement",
    "mark_practice",
    "may_sign",
    "move_stage",
    "move_stages",
    "remember_sign_in",
    "remove_member",
    "reopen_engagement",
    "reset_password",
    "revoke_stage_waiver",
    "revoke_token",
    "set_model_scope",
    "set_people",
    "sign_stage_waiver",
    "tick_item",
    "undo_assignments",
    "undo_member_removal",
    "undo_move",
    "undo_moves",
    "update_customer",
    "update_engagement",
    "update_model",
    "update_person",
]
