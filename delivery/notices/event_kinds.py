"""The registry of event kinds: what may be heard of, by whom, and from which audit entry."""

from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _

from engagements.access import Can


@dataclass(frozen=True)
class EventKind:
    """A kind of event.

    `audience`: a member of the team hears of it if his role includes one of these actions.
    `level`: the colour by DOMAIN 12: green, blue, orange or red.
    `facts`: values of the audit entry's data that make it this kind, by key.
    `outcomes`: what it came to, by the value under `outcome_key` in that data.
    """

    code: str
    title: str
    audience: frozenset[Can]
    level: str = "blue"
    is_for_customers: bool = False
    action: str = ""
    facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    email: str = "off"
    outcome_key: str = ""
    outcomes: dict[str, "Outcome"] = field(default_factory=dict)

    def outcome_of(self, data: dict) -> str:
        """The code of what it came to; "" for a kind without outcomes."""
        value = data.get(self.outcome_key, "") if self.outcome_key else ""
        return value if value in self.outcomes else ""


@dataclass(frozen=True)
class Outcome:
    """What an event came to; its level stands for that of the kind."""

    label: str
    level: str


def _kind(code, title, *audience, **more) -> EventKind:
    return EventKind(code, title, frozenset(audience), **more)


DECISIONS = {"outcome_key": "decision", "outcomes": {
    "accepted": Outcome(_("Passed"), "green"),
    "conditional": Outcome(_("Passed with conditions"), "orange"),
    "rejected": Outcome(_("Failed"), "red"),
    "deemed": Outcome(_("Deemed accepted under the contract"), "green")}}
_TEAM = (Can.VIEW_INTERNAL, Can.REVIEW)
_CUSTOMER = (Can.MANAGE, Can.ISSUE, Can.REVIEW)
KINDS: dict[str, EventKind] = {kind.code: kind for kind in (
    _kind("job_failed", _("Job failed"), Can.WORK, level="red", action="job.end",
          facts={"state": ("failed", "timed_out", "lost")}, email="now"),
    _kind("job_succeeded", _("Job ran"), Can.WORK, action="job.end",
          facts={"state": ("succeeded",)}),
    _kind("job_card_alarm", _("A card of your running job is in alarm"), level="red", email="now"),
    _kind("job_maintenance", _("Maintenance of a node on which your job runs: it goes on"),
          level="orange"),
    _kind("job_to_be_stopped", _("Maintenance of a node will stop your running job"), level="red",
          email="now"),
    _kind("job_held", _("An operator holds your job"), level="orange", action="job.hold",
          email="now"),
    _kind("job_moved", _("An operator changed your job's place in the queue"),
          action="job.priority", email="now"),
    _kind("job_overruled", _("An operator cancelled your job"), level="red", action="job.cancel",
          facts={"overruled": ("yes",)}, email="now"),
    _kind("job_stopped", _("Your job was stopped for maintenance of its node"), level="red",
          action="job.cancel", facts={"overruled": ("maintenance",)}, email="now"),
    _kind("node_quarantined", _("Node quarantined: its host key changed"), Can.OPERATE,
          level="red", email="now"),
    _kind("reservation_maintenance", _("Maintenance meets your reservation of cards"), Can.MANAGE,
          level="orange", action="node.maintenance_over", email="now"),
    _kind("node_unreachable", _("Node unreachable"), Can.OPERATE, level="orange"),
    _kind("card_health", _("Card not healthy: read its error code, reset it or call the vendor"),
          Can.OPERATE, level="red", email="now"),
    _kind("card_ecc", _("Card memory errors increasing: end the job and reset the card"),
          Can.OPERATE, level="red", email="now"),
    _kind("card_heat", _("Card too hot: check fans and airflow"), Can.OPERATE, level="orange",
          email="now"),
    _kind("card_link", _("Card network port is down: check cable and switch"), Can.OPERATE,
          level="red", email="now"),
    _kind("node_disk", _("A node's disk is full or soon will be"), Can.OPERATE, level="orange",
          email="now"),
    _kind("node_clock", _("A node's clock differs"), Can.OPERATE, level="orange"),
    _kind("node_software", _("A node's software differs from others with its chip"), Can.OPERATE),
    _kind("node_no_end", _("A node's maintenance has lasted long and has no end"), Can.OPERATE,
          level="orange", email="now"),
    _kind("stored_file_damaged", _("Stored file damaged: restore it from a backup"), Can.OPERATE,
          level="red", action="stored_file.damage", email="now"),
    _kind("stage_submitted", _("Stage submitted: a decision is due"), Can.MANAGE,
          action="stage.submit", email="now"),
    _kind("stage_withdrawn", _("Stage submission withdrawn: no decision is due"), Can.MANAGE,
          action="stage.withdraw", email="daily"),
    _kind("stage_sent_back", _("Stage sent back"), Can.WORK, level="red",
          action="stage.send_back", email="now"),
    _kind("stage_passed", _("Stage passed"), Can.WORK, Can.REVIEW, level="green",
          action="stage.pass", is_for_customers=True),
    _kind("stage_waived", _("Stage let through with a waiver"), Can.WORK, Can.REVIEW,
          level="orange", action="stage.waive", is_for_customers=True),
    _kind("stage_reopened", _("Stage reopened"), Can.WORK, level="orange",
          action="stage.reopen", email="now"),
    _kind("waiver_drafted", _("Waiver to sign"), Can.MANAGE, Can.REVIEW,
          action="stage_waiver.draft", is_for_customers=True, email="now"),
    _kind("acceptance_waiver_drafted", _("Waiver for the final acceptance to sign"), Can.REVIEW,
          action="blocker_waiver.draft", is_for_customers=True, email="now"),
    _kind("acceptance_waiver_signed", _("Waiver for the final acceptance signed"), Can.MANAGE,
          action="blocker_waiver.sign"),
    _kind("verdict_waiver_drafted", _("Waiver of a verdict to sign"), Can.MANAGE,
          action="waiver.draft", email="now"),
    _kind("verdict_failed", _("Verdict: failed"), Can.WORK, level="red",
          action="verdict.compute", facts={"outcome": ("failed",)}),
    _kind("engagement_closed", _("Engagement closed"), *_TEAM, level="green",
          action="engagement.close", is_for_customers=True, email="daily"),
    _kind("engagement_cancelled", _("Engagement cancelled"), *_TEAM, level="red",
          action="engagement.cancel", is_for_customers=True, email="now"),
    _kind("engagement_reopened", _("Engagement reopened"), *_TEAM, level="orange",
          action="engagement.reopen", is_for_customers=True, email="now"),
    _kind("invoice_added", _("Invoice noted"), Can.PRICE, action="invoice.add"),
    _kind("invoice_credited", _("Credit note noted"), Can.PRICE, action="invoice.credit"),
    _kind("payment_added", _("Payment noted"), Can.PRICE, level="green", action="payment.add"),
    _kind("quote_to_review", _("Quote awaiting review"), Can.WORK, Can.PRICE,
          action="quote.submit", email="now"),
    _kind("quote_awaiting", _("Quote awaiting approval"), Can.MANAGE,
          action="quote.review", email="now"),
    _kind("quote_issued", _("Quote issued"), Can.PRICE, Can.REVIEW,
          action="quote.issue", is_for_customers=True, email="daily"),
    _kind("quote_accepted", _("Quote accepted"), Can.PRICE, level="green",
          action="quote.accepted", email="now"),
    _kind("quote_declined", _("Quote declined"), Can.PRICE, level="red",
          action="quote.declined", email="now"),
    _kind("quote_revoked", _("Quote revoked"), Can.PRICE, Can.REVIEW, level="orange",
          action="quote.revoke", is_for_customers=True, email="now"),
    _kind("report_issued", _("Document issued"), *_CUSTOMER, Can.WORK, level="green",
          action="document.issue", is_for_customers=True),
    _kind("document_superseded", _("Document superseded by a newer version"), *_CUSTOMER, Can.WORK,
          level="orange", action="document.supersede", is_for_customers=True),
    _kind("document_withdrawn", _("Document withdrawn"), *_CUSTOMER, Can.WORK, level="orange",
          action="document.withdraw", is_for_customers=True, email="now"),
    _kind("report_overtaken", _("A verdict of an issued document has turned since"), *_CUSTOMER,
          Can.WORK, level="red", action="document.overtaken", is_for_customers=True, email="now"),
    _kind("file_failed", _("An issued document's file could not be generated"),
          Can.ISSUE, Can.MANAGE, Can.PRICE, level="red", action="issued_file.fail", email="now"),
    _kind("document_awaiting", _("Document awaiting review"), Can.WORK,
          action="document.submit", email="now"),
    _kind("document_sent_back", _("Document sent back"), Can.WORK, level="red",
          action="document.send_back", email="now"),
    _kind("review_requested", _("Review requested"), *_CUSTOMER,
          action="review.open", is_for_customers=True, email="now"),
    _kind("comment_made", _("Comment made"), *_CUSTOMER, Can.WORK,
          action="review.comment", is_for_customers=True, email="daily"),
    _kind("acceptance_decided", _("Acceptance decided"), *_CUSTOMER, Can.PRICE,
          action="review.decide", is_for_customers=True, email="now", **DECISIONS),
    _kind("document_signed", _("Document signed"), *_CUSTOMER, Can.PRICE,
          action="document.sign", is_for_customers=True, email="now", **DECISIONS),
    _kind("signature_turn", _("Your signature is requested"), action="signer.turn",
          is_for_customers=True, email="now"),
    _kind("signature_declined", _("Signature declined"), *_CUSTOMER, level="red",
          action="review.decline", is_for_customers=True, email="now"),
    _kind("issue_reported", _("Outstanding issue resolved: please confirm"), *_CUSTOMER,
          action="review.condition_report", is_for_customers=True, email="now"),
    _kind("issue_closed", _("Outstanding issue closed"), *_CUSTOMER, level="green",
          action="review.condition_close", is_for_customers=True),
    _kind("issue_sent_back", _("Outstanding issue sent back"), *_CUSTOMER, Can.WORK, level="red",
          action="review.condition_send_back", is_for_customers=True, email="now"),
    _kind("issue_reopened", _("Outstanding issue reopened"), *_CUSTOMER, Can.WORK, level="red",
          action="review.condition_reopen", is_for_customers=True, email="now"),
    _kind("trial_issue", _("Issue of the trial run reported"), *_CUSTOMER, Can.WORK,
          level="orange", action="trial_issue.report", is_for_customers=True, email="now"),
    _kind("trial_issue_comment", _("Comment on an issue of the trial run"), *_CUSTOMER, Can.WORK,
          action="trial_issue.comment", is_for_customers=True, email="now"),
    _kind("trial_issue_resolved", _("Issue of the trial run settled"), *_CUSTOMER, Can.WORK,
          level="green", action="trial_issue.resolve", is_for_customers=True, email="daily"),
    _kind("decision_replaced", _("A colleague replaced your decision"),
          action="review.decision_replaced", is_for_customers=True, email="now", **DECISIONS),
    _kind("claim_sent_back", _("Repair under the warranty sent back"), *_CUSTOMER, Can.WORK,
          level="red", action="warranty.send_back", is_for_customers=True, email="now"),
    _kind("claim_raised", _("Warranty claim to repair"), *_CUSTOMER, Can.WORK, level="orange",
          action="warranty.claim", is_for_customers=True, email="now"),
    _kind("claim_repaired", _("Repair under the warranty: please confirm"), *_CUSTOMER,
          action="warranty.repair", is_for_customers=True, email="now"),
    _kind("claim_closed", _("Warranty claim closed"), *_CUSTOMER, Can.WORK, level="green",
          action="warranty.close", is_for_customers=True),
    _kind("change_to_decide", _("Change request to decide"), Can.MANAGE, Can.REVIEW,
          action="change.submit", is_for_customers=True, email="now"),
    _kind("change_in_force", _("Change in force"), Can.WORK, Can.PRICE, Can.REVIEW, level="green",
          action="change.apply", is_for_customers=True, email="daily"),
    _kind("change_rejected", _("Change request rejected"), Can.WORK, Can.REVIEW, level="red",
          action="change.reject", is_for_customers=True, email="now"),
    _kind("change_withdrawn", _("Change request withdrawn"), Can.MANAGE, Can.REVIEW,
          level="orange", action="change.withdraw", is_for_customers=True, email="daily"),
    _kind("change_proposal_withdrawn", _("Change proposal withdrawn"), Can.WORK,
          action="change_proposal.withdraw"),
    _kind("change_proposed", _("Change proposed by the customer"), Can.WORK,
          action="change_proposal.raise", email="now"),
    _kind("change_proposal_taken", _("Change request drafted from a proposal"), Can.REVIEW,
          action="change_proposal.convert", is_for_customers=True, email="daily"),
    _kind("change_proposal_answered", _("Change proposal answered"), Can.REVIEW,
          action="change_proposal.answer", is_for_customers=True, email="now"),
    _kind("change_proposal_declined", _("Change proposal declined"), Can.REVIEW, level="orange",
          action="change_proposal.decline", is_for_customers=True, email="now"),
    _kind("timesheet_to_confirm", _("Timesheet to confirm"), Can.REVIEW,
          action="timesheet.submit", is_for_customers=True, email="now"),
    _kind("timesheet_answered", _("Timesheet confirmed"), Can.MANAGE, level="green",
          action="timesheet.confirm"),
    _kind("timesheet_rejected", _("Timesheet rejected"), Can.MANAGE, level="red",
          action="timesheet.reject", email="now"),
    _kind("weekly_report", _("Weekly report frozen"), Can.MANAGE, Can.WORK,
          action="weekly.freeze", email="daily"),
    _kind("minutes_shared", _("Minutes to confirm"), Can.REVIEW, action="meeting.share",
          is_for_customers=True, email="daily"),
    _kind("minutes_confirmed", _("Minutes confirmed by the customer"), Can.WORK, level="green",
          action="meeting.confirm"),
    _kind("todo_given", _("To-do for you"), action="todo.add", email="daily"),
    _kind("channel_disabled", _("Notification channel switched off after failures"), Can.MANAGE,
          level="red", action="channel.disable", email="now"),
    _kind("audit_head", _("Newest entry of the audit log, and its hash"), Can.WITNESS,
          action="audit.head", email="now"),
    _kind("audit_fault", _("The audit log is not what the application wrote"), Can.AUDIT,
          level="red", action="audit.fault", email="now"),
    _kind("review_due", _("The review period ends soon"), Can.MANAGE, Can.REVIEW,
          level="orange", is_for_customers=True, email="now"),
    _kind("retest_due", _("Day of the repeated inspection"), *_CUSTOMER, Can.WORK, level="orange",
          is_for_customers=True, email="now"),
    _kind("deadline_near", _("Deadline near"), Can.MANAGE, level="orange", email="daily"),
)}

LOG_KINDS = [code for code, kind in KINDS.items() if kind.audience & {Can.AUDIT, Can.WITNESS}]
# Failures, doubts and what waits for somebody; all else is read as a digest.
IMPORTANT = [code for code, kind in KINDS.items()
             if kind.level in ("red", "orange") or kind.email == "now"]
CODES = [(code, code) for code in KINDS]  # as the API names them


def kind_of(code: str) -> EventKind:
    """The declared kind; one that is no longer declared shows its code and goes to nobody."""
    return KINDS.get(code) or EventKind(code, code, frozenset())


def kind_of_entry(action: str, data: dict) -> EventKind | None:
    """The kind that an audit entry makes, if any."""
    for kind in KINDS.values():
        if kind.action == action and all(
                data.get(name) in values for name, values in kind.facts.items()):
            return kind
    return None


def kinds_for(user) -> list[EventKind]:
    """The kinds that the user's role may hear of."""
    from engagements.access import allowed

    return [kind for kind in KINDS.values()
            if any(allowed(user, action) for action in kind.audience)
            and (kind.is_for_customers or not user.is_reviewer)]
