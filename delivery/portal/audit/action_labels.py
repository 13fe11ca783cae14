"""The label of each action of the audit log. An action of an older release may have none."""

from django.utils.translation import gettext_lazy as _

PEOPLE = {
    "user.login": _("Signed in"), "user.logout": _("Signed out"),
    "user.login_refused": _("Sign-in refused"), "user.token": _("API token taken"),
    "user.password": _("Password changed"),
    "person.add": _("User account added"), "person.update": _("User account changed"),
    "customer.create": _("Customer added"), "customer.update": _("Customer changed"),
    "member.add": _("Team member added"), "member.remove": _("Team member removed"),
    "notices.prefer": _("Own notices chosen"), "company.save": _("Our company's data changed"),
    "row.write": _("Row written"), "sample.load": _("Sample engagement loaded"),
}
ENGAGEMENTS = {
    "engagement.create": _("Engagement opened"), "engagement.update": _("Engagement changed"),
    "model.add": _("Model added"), "model.update": _("Model changed"),
    "model.scope": _("Model's scope changed"), "model.drop": _("Model taken out"),
    "stage.start": _("Stage started"), "stage.submit": _("Stage submitted"),
    "stage.pass": _("Stage passed"), "stage.send_back": _("Stage sent back"),
    "stage.waive": _("Stage let through with a waiver"), "stage.reopen": _("Stage reopened"),
    "stage.skip": _("Stage taken out of scope"), "stage.restore": _("Stage back in scope"),
    "stage_waiver.draft": _("Stage waiver drafted"), "stage_waiver.sign": _("Stage waiver signed"),
    "stage_waiver.revoke": _("Stage waiver revoked"),
    "checklist.tick": _("Checklist item ticked"), "checklist.untick": _("Checklist item unticked"),
}
SURVEYS = {
    "survey.start": _("Survey started"), "survey.answer": _("Survey answered"),
    "survey.submit": _("Survey submitted"), "survey.confirm": _("Survey confirmed"),
    "survey.reopen": _("Survey reopened"), "survey.comment": _("Survey commented on"),
    "survey.decide": _("Decision on the survey"),
    "survey.version": _("Survey moved to a newer questionnaire"),
    "consequence.apply": _("Consequences of the survey taken over"),
    "consequence.withdraw": _("Consequence of the survey withdrawn"),
    "questionnaire.draft": _("Questionnaire drafted"),
    "questionnaire.question": _("Question of the questionnaire changed"),
    "questionnaire.question_remove": _("Question of the questionnaire removed"),
    "questionnaire.question_move": _("Question of the questionnaire moved"),
    "questionnaire.publish": _("Questionnaire published"),
    "questionnaire.discard": _("Draft of the questionnaire discarded"),
}
NODES_AND_JOBS = {
    "node.enrol": _("Node enrolled"), "node.confirm": _("Host key confirmed"),
    "node.edit": _("Node changed"), "node.maintenance": _("Node's maintenance switched"),
    "node.quarantine": _("Node quarantined"), "node.refetch_key": _("Host key fetched anew"),
    "node_login.add": _("Log-in on a node added"),
    "node_login.change": _("Log-in on a node changed"),
    "node_login.withdraw": _("Log-in on a node withdrawn"),
    "job.queue": _("Job queued"), "job.cancel": _("Job cancelled"), "job.end": _("Job ended"),
    "artifact.store": _("Files stored"), "artifact.upload": _("File uploaded"),
    "api_route.record": _("Routes of APIs recorded"),
    "artifact.read": _("Files read"), "artifact.read_again": _("File read again"),
    "file.download": _("File downloaded"),
    "source.scan": _("Source scanned"), "chain.start": _("Job chain started"),
    "chain.step": _("Job chain went on"), "chain.end": _("Job chain ended"),
}
JUDGEMENTS = {
    "definition.version": _("Metric definition: new version"),
    "definition.load": _("Standard metric definitions loaded"),
    "criteria.draft": _("Criteria drafted"), "criteria.confirm": _("Criteria confirmed"),
    "criteria.sign": _("Criteria signed"), "criterion.add": _("Criterion added"),
    "criterion.remove": _("Criterion removed"), "baseline.record": _("Baseline recorded"),
    "baseline.confirm": _("Baseline confirmed"), "baseline.run": _("Baseline run ordered"),
    "measurement.read": _("Measurements read from a file"),
    "measurement.add": _("Measurement taken"), "verdict.compute": _("Verdict computed"),
    "waiver.sign": _("Waiver signed"), "waiver.revoke": _("Waiver revoked"),
    "allowlist.propose": _("Allowed difference proposed"),
    "allowlist.review": _("Allowed difference reviewed"),
    "allowlist.withdraw": _("Allowed difference withdrawn"),
    "difference.accept": _("Difference accepted"),
    "round.record": _("Optimisation round recorded"), "round.keep": _("Optimisation round kept"),
    "round.revert": _("Optimisation round reverted"),
    "round.remove": _("Optimisation round removed"),
}
QUOTES = {
    "discount_limits.save": _("Discount limits set"),
    "quote.create": _("Quote created"), "quote.new_version": _("Quote: new version begun"),
    "quote.add_line": _("Quote: line added"), "quote.add_lines": _("Quote: lines added"),
    "quote.change_line": _("Quote: line changed"), "quote.remove_line": _("Quote: line removed"),
    "quote.update": _("Quote: terms changed"),
    "quote.submit": _("Quote submitted for review"), "quote.review": _("Quote reviewed"),
    "quote.return": _("Quote sent back"), "quote.withdraw": _("Quote withdrawn by its author"),
    "quote.approve": _("Quote approved"), "quote.issue": _("Quote issued"),
    "quote.accepted": _("Quote accepted by the customer"),
    "quote.declined": _("Quote declined by the customer"), "quote.expire": _("Quote expired"),
    "quote.supersede": _("Quote superseded"), "quote.file": _("Quote's file stored"),
    "rate_card.load": _("Price list loaded"),
    "rate_card.import": _("Price list imported"), "rate_card.close": _("Price list closed"),
    "price_import.start": _("Import of prices begun"),
    "price_import.map": _("Columns of an import of prices chosen"),
    "price_import.discard": _("Import of prices discarded"),
}
PLANNING = {
    "estimate.agree": _("Estimate agreed by a change"),
    "estimate.draft": _("Estimate drafted"), "estimate.add_line": _("Estimate: line added"),
    "estimate.adjust": _("Estimate: line adjusted"), "estimate.approve": _("Estimate approved"),
    "driver.set": _("Effort driver set"), "driver.remove": _("Effort driver removed"),
    "grade_cost.set": _("Cost of a grade set"), "plan.draft": _("Plan drafted"),
    "plan.baseline": _("Plan: baseline taken"), "plan.milestones": _("Milestones changed"),
    "plan_baseline.file": _("Plan: file of a baseline stored"),
    "task.add": _("Task added"), "task.update": _("Task changed"), "task.remove": _("Task removed"),
    "task.link": _("Tasks linked"), "task.unlink": _("Tasks unlinked"),
    "time.record": _("Time recorded"), "time.correct": _("Time corrected"),
    "time.remove": _("Time removed"), "timesheet.submit": _("Timesheet submitted"),
    "timesheet.confirm": _("Timesheet confirmed"), "timesheet.reject": _("Timesheet rejected"),
    "timesheet.withdraw": _("Timesheet withdrawn"), "risk.add": _("Risk added"),
    "risk.update": _("Risk changed"), "project_issue.add": _("Issue added"),
    "project_issue.update": _("Issue changed"), "meeting.record": _("Minutes recorded"),
    "meeting.update": _("Minutes changed"), "todo.add": _("To-do added"),
    "todo.finish": _("To-do done"), "weekly.draft": _("Weekly report drafted"),
    "weekly.update": _("Weekly report changed"), "weekly.refresh": _("Weekly report refreshed"),
    "weekly.freeze": _("Weekly report frozen"), "weekly.file": _("Weekly report's file stored"),
    "timesheet.file": _("Timesheet's file stored"),
}
CHANGES = {
    "change.create": _("Change request created"), "change.update": _("Change request edited"),
    "change.submit": _("Change request submitted"), "change.effect": _("Change: effect entered"),
    "change.remove_effect": _("Change: effect removed"),
    "change.approve_firm": _("Change approved by us"),
    "change.approve_customer": _("Change approved by the customer"),
    "change.apply": _("Change put in force"), "change.reject": _("Change rejected"),
    "change.result": _("Change: result recorded"), "change.file": _("Change order's file stored"),
}
DOCUMENTS = {
    "identity.save": _("Branding changed"),
    "document.draft": _("Document drafted"), "document.refresh": _("Document's facts refreshed"),
    "document.write": _("Document's words written"), "document.correct": _("Correction begun"),
    "document.file": _("Document's file stored"), "document.seal": _("Signed copy sealed"),
    "document.discard": _("Draft discarded"), "document.submit": _("Document submitted"),
    "document.review": _("Document reviewed"), "document.send_back": _("Document sent back"),
    "document.recall": _("Document recalled"), "document.hand_over": _("Document handed over"),
    "document.co_sign": _("Co-signer added"), "document.approve": _("Document approved"),
    "document.issue": _("Document issued"), "document.withdraw": _("Document withdrawn"),
    "chain.save": _("Chain saved"), "chain.reset": _("Approval chain reset"),
    "wording.save": _("Wording changed"), "wording.reset": _("Wording reset"),
    "bundle.build": _("Evidence bundle built"),
}
ACCEPTANCE = {
    "acceptance.terms": _("Terms of acceptance changed"),
    "review.open": _("Acceptance review opened"), "review.comment": _("Review commented on"),
    "review.note": _("Internal note on a review"), "review.resolve": _("Comment resolved"),
    "review.note_resolve": _("Internal note resolved"), "review.decide": _("Acceptance decided"),
    "review.decline": _("Signature declined"), "review.identify": _("Signer identified"),
    "review.signers": _("Signers named"), "signer.turn": _("Signer's turn"),
    "review.notice": _("Notice of acceptance given"), "review.receipt": _("Receipt confirmed"),
    "review.condition_report": _("Condition reported as met"),
    "review.wrong_code": _("Wrong code for signing"),
    "review.condition_close": _("Condition closed"), "document.sign": _("Document signed"),
    "third_party.attach": _("Third-party test report attached"),
    "third_party.withdraw": _("Third-party test report withdrawn"),
    "power.record": _("Power of attorney recorded"), "power.end": _("Power of attorney ended"),
}
NOTICES = {
    "channel.create": _("Notification channel added"),
    "channel.update": _("Notification channel changed"),
    "channel.switch": _("Notification channel switched"),
    "channel.test": _("Notification channel tried"),
    "dispatch.send_again": _("Notification sent again"),
}
AREAS = {
    _("People and customers"): PEOPLE, _("Engagements and stages"): ENGAGEMENTS,
    _("Survey"): SURVEYS, _("Nodes, jobs and files"): NODES_AND_JOBS,
    _("Criteria and verdicts"): JUDGEMENTS, _("Quotes and prices"): QUOTES,
    _("Planning"): PLANNING, _("Changes"): CHANGES, _("Documents"): DOCUMENTS,
    _("Acceptance"): ACCEPTANCE, _("Notices"): NOTICES,
}
ACTION_LABELS = {action: label for area in AREAS.values() for action, label in area.items()}


def action_label(action: str) -> str:
    """The label in the active language; the action itself where it has none."""
    return str(ACTION_LABELS.get(action, action))
