"""What a person decides: the column of the permissions that stands beside role and engagement.

Every write appends an entry to the audit log, and the entry's action says here what the write
needs. `audit_log.record` asks this table within the write's transaction, so that no service can
forget it; an action that stands nowhere needs a person. A token prepares: it decides only with the
scope `decide`, which an administrator of the installation has to allow.
"""

import time

from django.conf import settings
from django.utils.translation import gettext as _

from engagements.errors import NotAllowed


def _actions(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Work, drafts, what follows by itself: whatever the role allows, by token too.
WORK = _actions("""
absence.add absence.remove audit.fault audit.head alarm.acknowledge alarm.silence
case.add case.engagement case.evidence case.update customer.create customer.update
certificate.add certificate.remove dispatch.send_again notices.mail notices.prefer notices.unread
person.accept_invitation regression.start row.write skill.remove skill.set
token.revoke user.login user.login_refused user.logout user.password_reset view.delete view.save
blocker_waiver.draft engagement.accepted engagement.create engagement.update model.add model.update
stage.assign stage.comment stage.operation_added stage.start stage.submit stage.undo_start
stage.withdraw stage_waiver.draft survey.answer survey.comment survey.start survey.submit
survey.version
api_route.record artifact.read artifact.read_again artifact.store artifact.upload
artifact.upload_start cards.lease cards.leases_recorded cards.release
chain.end chain.resume chain.save chain.start chain.step file.download
job.cancel job.end job.hold job.input job.inputs_recorded job.member_end job.priority job.queue
job.release job.restart job.start_members job.stop_members
job_template.delete job_template.rename job_template.save
node.maintenance_over node.reserve node.reserve_end runtime.choice_end runtime.choose source.scan
stored_file.damage stored_file.heal stored_reading.complete
allowlist.propose allowlist.withdraw definition.load human_evaluation.start
measurement.add measurement.read round.keep round.record round.remove round.revert
verdict.compute waiver.draft
invoice.add invoice.credit payment.add price_import.discard price_import.map price_import.start
quote.add_line quote.add_lines quote.change_line quote.copy quote.create quote.discard quote.expire
quote.file quote.new_version quote.remove_line quote.submit quote.supersede quote.update
quote.withdraw
calendar_day.remove calendar_day.set driver.remove driver.set
estimate.add_line estimate.adjust estimate.draft meeting.record meeting.update
plan.draft plan.milestones plan_baseline.file project_issue.add project_issue.update
risk.add risk.update task.add task.link task.remove task.unlink task.update
time.correct time.record time.remove timesheet.file timesheet.submit timesheet.withdraw
todo.add todo.finish weekly.correct weekly.draft weekly.file weekly.refresh weekly.update
change.create change.effect change.file change.remove_effect change.result change.submit
change.update change.withdraw change_proposal.convert change_proposal.raise
change_proposal.withdraw
agreement.draft agreement.enter bundle.build deliverable.add deliverable.list deliverable.update
document.correct document.discard document.draft document.file document.overtaken document.recall
document.refresh document.seal document.submit document.supersede document.write issued_file.fail
planned_versions.set trial_issue.comment trial_issue.report trial_issue.resolve
warranty.claim warranty.repair warranty.take
review.comment review.condition_report review.note review.note_resolve review.resolve
review.wrong_code signer.turn
""")

# A person's own session.
DECISIONS = _actions("""
agent.create agent.engagement_hours agent.hours agent.stop audit.archive audit.reseal audit.restore
audit.seal_end case.approve case.restore case.retire company.save margin_floor.set member.add
member.remove person.add person.directory person.directory_left person.invite person.update
practice.ask_for_node practice.mark practice.remove purpose.declare sample.load token.create
user.end_sign_ins user.password user.token
blocker_waiver.revoke checklist.tick checklist.untick delegation.end delegation.start
engagement.cancel engagement.close engagement.lose engagement.reopen model.drop model.scope
stage.pass stage.reopen stage.restore stage.send_back stage.skip stage.waive stage_waiver.revoke
consequence.apply consequence.withdraw questionnaire.discard questionnaire.draft
questionnaire.publish questionnaire.question questionnaire.question_move
questionnaire.question_remove survey.confirm survey.decide survey.reopen
artifact.purpose engagement.card_quota node.clean_up node.confirm node.delete node.edit node.enrol
node.install_key node.maintenance node.quarantine node.refetch_key node.retire node.rotate_key
node.try node_import.accept node_import.apply node_import.discard node_import.look
node_import.start node_login.add node_login.change node_login.withdraw
runtime.add runtime.change runtime.retire runtime.reuse
allowlist.review baseline.explain baseline.record baseline.run criteria.draft criterion.add
criterion.remove definition.version difference.accept human_evaluation.conclude
human_evaluation.rate human_evaluation.remove_rating waiver.revoke
discount_limits.save framework.add framework.change quote.answer_recorded quote.approve
quote.return quote.review
rate_card.close rate_card.import rate_card.load
estimate.agree estimate.approve grade_cost.set meeting.share plan.baseline timesheet.confirm
timesheet.reject weekly.freeze change.reject change_proposal.answer change_proposal.decline
approval_chain.save chain.reset deliverable.fulfil deliverable.reopen document.approve
document.co_sign document.hand_over document.review document.send_back duties.set identity.save
warranty.close warranty.send_back wording.reset wording.save
acceptance.terms power.end power.record review.condition_close review.condition_reopen
review.condition_send_back review.delegate review.identify review.open review.receipt
review.signers third_party.attach third_party.withdraw
channel.create channel.disable channel.replay channel.rotate_secret channel.switch channel.test
channel.update
""")

# Binds the firm or the customer: the session's sign-in is a recent one besides.
BINDING = _actions("""
agreement.agree baseline.confirm blocker_waiver.sign change.apply change.approve_customer
change.approve_firm criteria.confirm criteria.sign document.issue document.sign document.withdraw
meeting.confirm quote.accepted quote.answer_checked quote.declined quote.issue quote.revoke
review.decide review.decision_replaced review.decline review.notice stage_waiver.sign waiver.sign
""")


class PersonDecides(NotAllowed):
    """A script asks for what a person decides."""

    code = "person_decides"


class SignInTooOld(NotAllowed):
    """It binds somebody, and whoever sits at this browser signed in a while ago."""

    code = "sign_in_again"


def may_write(user, action: str) -> bool:
    """Whether a token, where the user signed in with one, is enough for the action."""
    return user.token is None or action in WORK or user.token.may_decide


def require_person(user, action: str) -> None:
    """Raise PersonDecides where a token is not enough for the action."""
    if not may_write(user, action):
        raise PersonDecides(_("A person decides this: sign in instead of using a token."))


def require_decider(user, action: str) -> None:
    """Raise PersonDecides or SignInTooOld where the action needs more than the role."""
    require_person(user, action)
    if action in BINDING:
        require_recent_sign_in(user)


def require_recent_sign_in(user) -> None:
    """Raise SignInTooOld for a session that began longer ago than the installation allows."""
    minutes = settings.DECISION_SIGN_IN_MINUTES
    if user.signed_in_at is not None and time.time() - user.signed_in_at > 60 * minutes:
        raise SignInTooOld(_(
            "This binds the firm or the customer, and your sign-in is older than %(minutes)s "
            "minutes. Nothing was saved: sign in again and repeat it.") % {"minutes": minutes})
