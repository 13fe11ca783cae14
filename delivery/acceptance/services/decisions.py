"""The customer's decision, overall and per model; it may be corrected until somebody signs."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from assessments.models import Outcome
from delivery.acceptance.models import Condition, ModelDecision, Review
from delivery.acceptance.models.review import CHOSEN
from delivery.acceptance.review.transitions import ReviewAction, record_action
from delivery.acceptance.services.blocker_waivers import require_no_blocker
from delivery.acceptance.services.identification import require_criteria_in_force
from delivery.acceptance.services.reviews import lock_for_action
from delivery.acceptance.services.signatures import notify_next_signer
from delivery.documents.bilingual import in_language
from engagements.audit import audit_log
from engagements.duties import members_of
from engagements.errors import InvalidInput
from engagements.models import MigratedModel, User

DECISION_REPLACED = "review.decision_replaced"  # action of the log
ACCEPTED, CONDITIONAL, REJECTED = (value for value, _label in CHOSEN)


@transaction.atomic
def decide(*, actor: User, review: Review, decision: str, reason: str = "",
           conditions: list[dict] | None = None, models: list[dict] | None = None,
           retest_on: date | None = None) -> Review:
    """The customer's decision. Writes an audit entry and notifies the first signer.

    A decision that nobody has signed is replaced as a whole; codes sent for it no longer sign.
    Its reasons and issues fall with it: where they come back unchanged with another decision, they
    are left out.

    Args:
        decision: accepted, conditional or rejected, of the whole document.
        reason: needed for a rejection, unless each rejected model has its own.
        conditions: rows of description, due_on, owner_user (the name of an account of either side
            here) or, for somebody without one, owner, and perhaps model (its code) and effect
            (blocks or none). Needed where the whole is conditional, and for each model that is
            named as conditional: one about it or about the whole document. Due after today.
        models: rows of model (its code), decision and reason; a model that is not named goes with
            the whole, but passes where all conditions are about other models.
        retest_on: day of the repeated inspection, after today; needed where something is rejected.
    """
    review = lock_for_action(actor, review, ReviewAction.DECIDE)
    known = models_by_code(review)
    former = {row.model: {"decision": row.decision, "reason": row.reason}
              for row in review.model_decisions.select_related("model")}
    reason = _unless_repeated(reason.strip(), decision, {
        "decision": review.decision, "reason": review.reason})
    own = "" if _is_same(reason, _reasons_of(review.decision, former)) else reason
    named = _named(own, models or [], known, former)
    reason = own or _reasons_of(decision, named) or reason
    people = {user.username: user for user in members_of(review.engagement)}
    rows = [_condition(row, known, people)
            for row in _without_repeated(review, decision, named, conditions or [])]
    _require_reasons(decision, reason)
    _require_issues(decision, named, rows)
    judged = {model: named.get(model) or _as_the_whole(decision, reason, model, rows)
              for model in known.values()}
    _require_consistent(decision, [row["decision"] for row in judged.values()])
    _require_unfailed(review, [m.code for m, row in judged.items() if row["decision"] == ACCEPTED])
    retest_on = _retest_day([decision, *(row["decision"] for row in judged.values())], retest_on)
    before, decider, why = _forget_decision(review), review.decided_by, review.reason
    review.decision, review.reason, review.retest_on = decision, reason, retest_on
    require_no_blocker(review)
    require_criteria_in_force(review)
    review.decided_by, review.decided_at = actor, timezone.now()
    review.save()
    for row in rows:
        Condition.objects.create(review=review, **row)
    for model, row in judged.items():
        ModelDecision.objects.create(review=review, model=model, **row)
    record_action(actor, review, ReviewAction.DECIDE, {
        "decision": review.decision, "reason": review.reason, "before": before,
        "before_by": decider.username if decider else "",
        "retest_on": review.retest_on,
        "conditions": [{**row, "model": row["model"].code if row["model"] else "",
                        "owner_user": row["owner_user"].username if row["owner_user"] else ""}
                       for row in rows],
        "models": {model.code: row for model, row in judged.items()}})
    if decider and decider != actor:
        review.replaced_decider = decider
        audit_log.record(actor=actor, action=DECISION_REPLACED, target=review,
                         engagement=review.engagement, data={
            "decision": decision, "before": before, "of": decider.username, "reason": why})
    notify_next_signer(review)
    return review


def _forget_decision(review: Review) -> str:
    """Take back a decision that nobody has signed; which it was, empty for none."""
    review.conditions.all().delete()
    review.model_decisions.all().delete()
    review.identifications.filter(used_at=None).update(expires_at=timezone.now())
    return review.decision


def models_by_code(review: Review) -> dict[str, MigratedModel]:
    """The models that the document covers, by code, in its order."""
    codes = [model["code"] for model in review.document.snapshot.get("models", [])]
    found = {model.code: model for model in review.document.engagement.models.all()}
    return {code: found[code] for code in codes if code in found}


def _model(code, known: dict[str, MigratedModel]) -> MigratedModel | None:
    code = str(code or "").strip()
    if code and code not in known:
        raise InvalidInput(_("The document covers no model %(code)s.") % {"code": code[:40]})
    return known.get(code)


def _unless_repeated(reason: str, decision: str, former: dict) -> str:
    """The reason; none where it was given for another decision and comes back unchanged.

    A rejection keeps it, since it has to have one.
    """
    is_other = former.get("decision") and decision not in (REJECTED, former["decision"])
    return "" if is_other and _is_same(reason, former["reason"]) else reason


def _is_same(text: str, former: str) -> bool:
    """A page sends the breaks of lines otherwise than they are stored."""
    return text.split() == former.split()


def _without_repeated(review: Review, decision: str, named: dict[MigratedModel, dict],
                      conditions: list[dict]) -> list[dict]:
    """The issues, but for those of the former decision where nothing is conditional any more."""
    former = {(row.description, row.model.code if row.model else "")
              for row in review.conditions.select_related("model")}
    of_models = {model.code: row["decision"] for model, row in named.items()}

    def is_conditional(code: str) -> bool:
        found = {of_models.get(code, decision)} if code else {decision, *of_models.values()}
        return CONDITIONAL in found

    rows = [(str(row.get("description") or "").strip(), str(row.get("model") or "").strip(), row)
            for row in conditions]
    return [row for description, code, row in rows
            if is_conditional(code) or (description, code) not in former]


def _named(reason: str, rows: list[dict], known: dict[str, MigratedModel],
           former: dict[MigratedModel, dict]) -> dict[MigratedModel, dict]:
    """Validated decisions on single models, in the document's order."""
    found = {}
    for row in rows:
        model, chosen = _model(row.get("model"), known), str(row.get("decision") or "")
        if model is None or chosen not in dict(CHOSEN):
            raise InvalidInput(_("Choose a decision for each model that you name."))
        text = _unless_repeated(str(row.get("reason") or "").strip(), chosen,
                                former.get(model, {}))
        if chosen == REJECTED and not (text or reason):
            raise InvalidInput(_("%(model)s: give the reason for the rejection.")
                               % {"model": model.code})
        found[model] = {"decision": chosen, "reason": text or (
            reason if chosen == REJECTED else "")}
    return {model: found[model] for model in known.values() if model in found}


def _reasons_of(decision: str, named: dict[MigratedModel, dict]) -> str:
    """The reason for the whole where the rejected models tell it."""
    return "\n".join(f"{model.code}: {row['reason']}" for model, row in named.items()
                     if row["decision"] == REJECTED) if decision == REJECTED else ""


def _as_the_whole(decision: str, reason: str, model: MigratedModel, rows: list[dict]) -> dict:
    """The decision on a model that was not named."""
    if decision == CONDITIONAL and not {row["model"] for row in rows} & {model, None}:
        return {"decision": ACCEPTED, "reason": ""}
    return {"decision": decision, "reason": reason if decision == REJECTED else ""}


def _require_consistent(decision: str, models: list[str]) -> None:
    """The whole is no better than its models, and not rejected where none is."""
    if decision == ACCEPTED and set(models) - {ACCEPTED}:
        raise InvalidInput(_("The whole passes only if every model does; choose “passed with "
                             "conditions” or “not passed”."))
    if decision == CONDITIONAL and models and set(models) == {REJECTED}:
        raise InvalidInput(_("Every model is rejected, so the whole is not passed."))
    if decision == REJECTED and models and REJECTED not in models:
        raise InvalidInput(_("The whole is not passed although no model is rejected; say which "
                             "model it is."))


def _require_unfailed(review: Review, accepted: list[str]) -> None:
    """No model passes unconditionally with a failed criterion that no waiver covers."""
    facts = review.document.snapshot
    waived = {(row["model"], str(row["name"])) for row in facts["departures"]["waivers"]
              } if "departures" in facts else set()
    for row in facts.get("metrics", []):
        is_failed = row["outcome"] == Outcome.FAILED and row["model"] in accepted
        if is_failed and (row["model"], str(row["name"])) not in waived:
            raise InvalidInput(_(
                "%(model)s: the criterion “%(name)s” has failed; choose “passed with conditions” "
                "or “not passed”, or agree on a waiver first.") % {
                    "model": row["model"], "name": in_language(row["name"], get_language())})


def _require_reasons(decision: str, reason: str) -> None:
    if decision not in dict(CHOSEN):
        raise InvalidInput(_("Choose a decision."))
    if decision == REJECTED and not reason:
        raise InvalidInput(_("Give the reason for the rejection."))


def _retest_day(decisions: list[str], retest_on: date | None) -> date | None:
    """The day of the repeated inspection; none where nothing is rejected."""
    if REJECTED not in decisions:
        return None
    if retest_on is None or retest_on <= timezone.localdate():
        raise InvalidInput(_("Name the day of the repeated inspection, after today, for what is "
                             "rejected."))
    return retest_on


def _require_issues(decision: str, named: dict[MigratedModel, dict], rows: list[dict]) -> None:
    """Outstanding issues where something is conditional, and only there."""
    conditional = [model for model, row in named.items() if row["decision"] == CONDITIONAL]
    if decision == CONDITIONAL and not rows:
        raise InvalidInput(
            _("Name at least one outstanding issue with its owner and due date."))
    if rows and decision != CONDITIONAL and not conditional:
        raise InvalidInput(_("Conditions go with a conditional acceptance only."))
    covered = {row["model"] for row in rows}
    bare = next((model for model in conditional if not covered & {model, None}), None)
    if bare:
        raise InvalidInput(_("%(model)s: name its outstanding issue with owner and due date.")
                           % {"model": bare.code})


def _condition(row: dict, known: dict[str, MigratedModel], people: dict[str, User]) -> dict:
    username = str(row.get("owner_user") or "")
    user = people.get(username)
    if username and user is None:
        raise InvalidInput(_("%(person)s is not in the team of this engagement.") % {
            "person": username[:80]})
    description, owner = (str(row.get(key) or "").strip() for key in ("description", "owner"))
    owner = user.get_full_name() if user else owner
    effect = str(row.get("effect") or Condition.Effect.BLOCKS)
    due = row.get("due_on")
    try:
        due = due if isinstance(due, date) else date.fromisoformat(str(due or ""))
    except ValueError:
        due = None
    if not (description and owner and due):
        raise InvalidInput(_("An outstanding issue needs a description, an owner and a due date."))
    if due <= timezone.localdate():
        raise InvalidInput(_("“%(issue)s”: the due date must be after today.") % {
            "issue": description[:80]})
    if effect not in Condition.Effect.values:
        raise InvalidInput(_("Say whether the issue holds up the final acceptance."))
    return {"description": description[:400], "owner": owner[:80], "owner_user": user,
            "due_on": due,
            "effect": effect, "model": _model(row.get("model"), known)}
