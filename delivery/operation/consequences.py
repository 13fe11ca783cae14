"""docs/consequences.md: when this happens to one thing, what becomes of another.

The rules themselves stand in the transition tables, in `delivery/followers.py` and in the queries
that say what holds; a row here names the test that proves what they come to together.
"""

from dataclasses import dataclass

from delivery.notices.event_kinds import KINDS

_REVIEW = "delivery/acceptance/test_review.py::"
_WALKS = "delivery/acceptance/test_walks.py::"
_AGREED = "delivery/quotes/test_agreed_quotes.py::"
_CHANGES = "delivery/planning/test_scope_changes.py::"
_SIGNERS = "delivery/acceptance/services/test_identification.py::"
_CLOSING = "delivery/acceptance/test_closing.py::"
IN_FORCE = _REVIEW + "test_engagement_and_acceptance_stages_follow_the_certificate_in_force"
TRIAL = (_WALKS + "test_from_provisional_acceptance_over_a_trial_with_an_incident_to_the_"
         "final_one")
NEVER_AGREED = _AGREED + "test_a_later_version_takes_nothing_from_the_accepted_one"
DROPPED = _CHANGES + "test_a_dropped_model_leaves_plan_criteria_and_stages"
HELD = _CHANGES + "test_an_accepted_quote_holds_the_scope_and_a_change_moves_it"
ENDED = _WALKS + "test_warranty_and_payments_follow_the_certificate_in_force"
MODELS = _REVIEW + "test_the_acceptance_follows_the_models_that_come_and_go"
ASKED = ("delivery/surveys/test_readiness.py::"
         "test_a_survey_asks_of_the_models_that_are_in_the_project")
WAIVED = _WALKS + "test_a_signed_waiver_lets_pass_what_it_names_and_nothing_else"
CLOSED = _CLOSING + "test_from_the_signature_over_warranty_and_archive_to_the_closing_and_back"
CANCELLED = _CLOSING + "test_cancelling_ends_what_is_under_way_and_reopening_goes_on"


@dataclass(frozen=True)
class Consequence:
    """`on`: what it reaches; `becomes`: what it then is; `test`: under `tests/`, proves it."""

    on: str
    becomes: str
    test: str


def _later_version(end: str) -> tuple[Consequence, ...]:
    return (Consequence("change requests, portfolio, plan",
                        f"stay with the accepted version; the {end} one holds nothing up",
                        NEVER_AGREED),)


# Event as the audit log calls it: what it reaches.
CONSEQUENCES: dict[str, tuple[Consequence, ...]] = {
    "document.issue": (
        Consequence("engagement, acceptance stages, warranty",
                    "stay with the certificate that was signed before", IN_FORCE),
        Consequence("payments", "none is released before the signature", TRIAL)),
    "document.supersede": (
        Consequence("engagement, acceptance stages", "follow the successor, signed", IN_FORCE),
        Consequence("warranty, payments", "follow the successor, signed; a rejection ends them",
                    ENDED)),
    "document.withdraw": (
        Consequence("engagement, acceptance stages, warranty",
                    "the version signed before holds", IN_FORCE),
        Consequence("warranty, payments", "stay with the version signed before", ENDED),
        Consequence("a signed certificate", "is not withdrawn but corrected by a next version",
                    "delivery/reports/test_chain.py::test_a_signed_document_is_not_withdrawn")),
    "document.sign": (
        Consequence("engagement, acceptance stages", "accepted and passed, or sent back",
                    IN_FORCE),
        Consequence("payments", "released once no condition that holds them up is open", TRIAL),
        Consequence("warranty", "begins; defects are claimed and repaired", _WALKS
                    + "test_from_the_final_acceptance_over_a_claim_to_a_regression_run"),
        Consequence("a rejection", "waits for the firm until the next version", _WALKS
                    + "test_a_signed_rejection_waits_for_the_firm_until_the_next_version")),
    "review.open": (
        Consequence("contract terms", "are not changed behind it", _WALKS
                    + "test_terms_are_not_changed_behind_a_review_that_is_open"),
        Consequence("signers", "are the agreement's, in its order and capacity",
                    _SIGNERS + "test_the_agreement_names_signers_order_and_capacity_for_each_paper"
                    )),
    "blocker_waiver.sign": (Consequence(
        "final acceptance", "may be unconditional over what the waiver names, and nothing else",
        WAIVED), Consequence(
        "a certificate drafted later", "prints it; what it names is no open point and stops no "
        "issue", _WALKS + "test_a_certificate_after_the_waiver_prints_it_and_calls_nothing_of_it_"
        "open")),
    "blocker_waiver.revoke": (Consequence(
        "a decision that nobody signed", "is not signed without conditions any more", WAIVED),),
    "project_issue.add": (
        Consequence("final acceptance", "at most conditional while a blocking one is open", _WALKS
                    + "test_nothing_passes_unconditionally_over_an_issue_that_holds_it_up"),),
    "quote.new_version": (
        *_later_version("drafted"),
        Consequence("change requests under way", "go on", "delivery/planning/test_changes.py::"
                    "test_a_draft_of_the_next_version_does_not_hold_up_a_change")),
    "quote.declined": _later_version("declined"),
    "quote.expire": _later_version("expired"),
    "quote.revoke": (*_later_version("revoked"), Consequence(
        "the next offer", "is made anew",
        _AGREED + "test_an_offer_with_a_wrong_price_is_revoked_and_offered_anew")),
    "quote.accepted": (
        Consequence("earlier quotes", "replaced, or agreed on beside it, as it says",
                    _AGREED + "test_a_quote_that_replaces_supersedes_the_accepted_one"),
        Consequence("portfolio, documents, margins", "add up what stands",
                    _AGREED + "test_quotes_that_stand_beside_each_other_add_up"),
        Consequence("models and stages", "change by change requests alone", HELD),
        Consequence("agreement", "drafted from it; once agreed it follows by versions",
                    "delivery/agreement/test_agreement.py::"
                    "test_a_draft_follows_its_sources_and_keeps_what_was_entered")),
    "change.effect": (Consequence(
        "plan", "open tasks of a stage grow or shrink as its person-days in the price do",
        "delivery/planning/test_changes.py::"
        "test_person_days_of_a_stage_move_its_tasks_by_those_who_do_them"),),
    "model.add": (
        Consequence("an accepted quote", "a change request adds model and price", HELD),
        Consequence("plan, quote", "get its tasks and lines",
                    _CHANGES + "test_a_new_model_adds_listed_items"),
        Consequence("survey", "asks of it", ASKED),
        Consequence("gates", "wait for its criteria", "assessments/test_services.py::"
                    "test_a_model_without_criteria_is_not_accepted"),
        Consequence("engagement", "is accepted once it is, too", MODELS)),
    "model.drop": (
        Consequence("stages, criteria, plan", "its own fall out; the rest stands", DROPPED),
        Consequence("jobs under way", "are cancelled",
                    "workers/test_dropped_models.py::"
                    "test_a_dropped_model_ends_its_jobs_and_no_other"),
        Consequence("quote", "its days leave the lines",
                    _CHANGES + "test_days_go_into_the_lines_of_the_quote"),
        Consequence("plan", "its work ends unfinished", "delivery/planning/test_plan.py::"
                    "test_work_of_a_dropped_model_ends_with_it_and_is_not_finished"),
        Consequence("survey", "asks of it no more; its answers stay", ASKED),
        Consequence("engagement", "is accepted without it where the others are", MODELS)),
    "stage.restore": (
        Consequence("closing", "waits for an operation that is in scope and not done",
                    "delivery/acceptance/test_operation_stage.py::"
                    "test_the_engagement_closes_once_operation_is_settled"),
        Consequence("inbox", "holds the operation after the acceptance, too",
                    "delivery/acceptance/test_operation_stage.py::"
                    "test_the_engagement_closes_once_operation_is_settled")),
    "stage.skip": (
        Consequence("gates of later stages", "do not wait for it", "engagements/"
                    "test_stage_forms.py::test_single_stages_leave_and_enter_the_scope"),
        Consequence("plan", "its task falls out and comes back between its neighbours",
                    _CHANGES + "test_a_stage_comes_back_between_its_neighbours"),
        Consequence("survey", "asks as before", ASKED),
        Consequence("quote", "with lines of it is told before it is issued",
                    "delivery/quotes/test_rules.py::test_09_a_stage_that_no_model_goes_through"),
        Consequence("jobs under way", "go on; what they measure stands",
                    "workers/test_dropped_models.py::test_jobs_of_a_skipped_stage_go_on")),
    "criteria.sign": (
        Consequence("stages passed under the version before", "stop the later ones",
                    "assessments/test_waivers.py::"
                    "test_a_criterion_tightened_after_its_stage_passed_stops_the_later_ones"),
        Consequence("verdicts", "are computed anew; the set before is superseded", "assessments/"
                    "test_services.py::test_a_new_version_copies_and_supersedes"),
        Consequence("acceptance", "waits for a certificate under the new text; a signed one stays",
                    _WALKS + "test_nothing_is_accepted_under_criteria_that_others_have_replaced")),
    "member.remove": (
        Consequence("failed jobs", "are for the others of the team", "delivery/next_steps/"
                    "test_next_steps.py::test_a_failed_job_whose_author_left_is_for_the_others"),
        Consequence("conditions owned", "go to the managers", "delivery/acceptance/"
                    "test_follow_ups.py::test_a_condition_is_its_owner_s_until_he_leaves"),
        Consequence("reviews, approvals, signatures", "name whom the engagement lacks",
                    "delivery/next_steps/test_waiting_pages.py::"
                    "test_who_can_go_on"),
        Consequence("notices", "stop", "delivery/notices/test_inbox.py::"
                    "test_who_left_the_team_sees_its_notices_no_more")),
    "delegation.start": (Consequence(
        "turns of documents, to-dos, conditions", "are the colleague's too, marked with the name",
        "delivery/next_steps/test_delegations.py::"
        "test_turns_and_to_dos_go_to_the_delegate_and_back"),),
    "warranty.claim": (Consequence(
        "the team, then the customer", "have it in the inbox until it is repaired and taken over",
        _WALKS + "test_from_the_final_acceptance_over_a_claim_to_a_regression_run"),),
    "engagement.close": (
        Consequence("jobs, time, quotes, certificate, archive", "had to be settled before",
                    _CLOSING + "test_closing_names_what_is_open_and_where_it_is_mended"),
        Consequence("every write, but warranty claims", "is refused with the way out", CLOSED)),
    "engagement.cancel": (
        Consequence("jobs, quotes, documents, timesheets with the customer",
                    "end or are taken back; the inbox holds nothing of it", CANCELLED),),
    "engagement.lose": (
        Consequence("quotes, documents, jobs with the customer",
                    "end or are taken back; nothing is owed by the agreed end",
                    "delivery/quotes/test_recorded_answers.py::"
                    "test_what_was_not_won_ends_with_its_cause"),),
    "quote.answer_checked": (
        Consequence("the quote", "is accepted or declined as if the customer had answered in the "
                    "portal", "delivery/quotes/test_recorded_answers.py::"
                    "test_a_second_person_makes_a_recorded_answer_count"),),
    "engagement.reopen": (
        Consequence("engagement", "stands as the certificate in force says", CLOSED),
        Consequence("work", "goes on", CANCELLED)),
}
HEAD = """# When this happens to A, what becomes of B

Written by `manage.py regenerate` from `delivery/operation/consequences.py`. Events are named as in
the audit log; people hear of those that have a notice.

| Event | Notice | Reaches | Which | Test |
|---|---|---|---|---|
"""


def as_markdown() -> str:
    """The document."""
    return HEAD + "".join(
        f"| `{event}` | {_notices(event)} | {row.on} | {row.becomes} | "
        f"`{row.test.rpartition('::')[2]}` |\n"
        for event, rows in CONSEQUENCES.items() for row in rows)


def _notices(event: str) -> str:
    return ", ".join(f"`{kind.code}`" for kind in KINDS.values() if kind.action == event)
