"""The gate checks of acceptance, a signed acceptance document that covers the model, and of the
operation after it; and what is settled with the customer before an engagement is closed."""

from collections.abc import Iterable

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from delivery.acceptance.certificates import (
    Standing,
    certificate_in_force,
    open_conditions,
    standing_of,
    warranty_period,
)
from delivery.acceptance.models import RegressionJob, Review, WarrantyClaim
from delivery.reports.models import Document
from engagements.closing import ClosingCondition, counted, register_condition
from engagements.gates import CheckResult, register_check
from engagements.models import Engagement, StageRecord
from engagements.stages import DONE, Stage
from workers.models.job import FINAL_STATES


@register_check("document", Stage.ACCEPT)
def acceptance_is_signed(record: StageRecord) -> Iterable[CheckResult]:
    """The stage of acceptance ends with a signed document that accepts the model, its conditions
    closed."""
    newest = certificate_in_force(record.engagement)
    standing = standing_of(newest, record.model.code)
    url = (reverse("reports:document", args=[newest.pk]) if newest
           else reverse("reports:engagement", args=[record.engagement.code]))
    yield CheckResult("document", _("Signed acceptance document"), standing == Standing.ACCEPTED,
                      _sentence(standing, newest, record.model.code), url, _remedy(standing))


@register_check("operation", Stage.OPERATION)
def operation_is_settled(record: StageRecord) -> Iterable[CheckResult]:
    """Operation ends with no claim open on the model and every regression run of it ended."""
    engagement, model = record.engagement, record.model
    claims = engagement.warranty_claims.filter(Q(model=model) | Q(model=None), closed_at=None)
    n = claims.count()
    yield CheckResult(
        "claims", _("Warranty claims"), not n,
        _claims_open(n) if n else _("None is open."), _warranty_page(engagement),
        _("Repair what is claimed; the customer closes the claim.") if n else "")
    runs = model.regression_runs.count()
    pairs = list(RegressionJob.objects.filter(run__model=model).select_related(
        "repeated", "chain_run").prefetch_related("chain_run__jobs__job"))
    going = len({pair.run_id for pair in pairs if not _has_ended(pair)})
    yield CheckResult(
        "regression", _("Regression runs"), not going,
        ngettext("%(n)d regression run is under way.", "%(n)d regression runs are under way.",
                 going) % {"n": going} if going
        else ngettext("%(n)d regression run has ended.", "%(n)d regression runs have ended.",
                      runs) % {"n": runs} if runs
        else _("None was started."),
        reverse("acceptance:regression_runs", args=[engagement.code]),
        _("Wait for its jobs, or cancel them.") if going else "")


def _has_ended(pair: RegressionJob) -> bool:
    """A chain that failed before it came to the job has ended, too."""
    if pair.repeating:
        return pair.repeating.state in FINAL_STATES
    return bool(pair.chain_run.finished_at) or pair.chain_run.has_stopped


def _claims_open(n: int) -> str:
    return ngettext("%(n)d claim is open.", "%(n)d claims are open.", n) % {"n": n}


def _sentence(standing: Standing, document: Document | None, code: str) -> str:
    if document is None:
        return _("No acceptance document has been issued yet.")
    names = {"document": document}
    if standing == Standing.CONDITIONAL:
        n = len(open_conditions(document.review, code))
        return ngettext("%(document)s: passed with conditions, %(n)d of them is open.",
                        "%(document)s: passed with conditions, %(n)d of them are open.",
                        n) % {**names, "n": n}
    if standing == Standing.ACCEPTED:
        return _("%(document)s: %(decision)s.") % {
            **names, "decision": document.review.get_decision_display()}
    return {
        Standing.ABSENT: _("%(document)s does not cover this model."),
        Standing.WAITING: _("%(document)s has not been signed by the customer yet."),
        Standing.REJECTED: _("%(document)s was rejected."),
    }[standing] % names


def _remedy(standing: Standing) -> str:
    if standing == Standing.ACCEPTED:
        return ""
    if standing == Standing.CONDITIONAL:
        return _("Report how the outstanding issues were resolved; the customer closes them.")
    return _("Issue an acceptance document that covers this model; the "
             "customer decides and signs on its page.")


def _without_acceptance(engagements: QuerySet[Engagement]) -> dict[int, str]:
    return dict.fromkeys(engagements.exclude(state=Engagement.State.ACCEPTED).values_list(
        "pk", flat=True), _("No signed final certificate accepts each model, its outstanding "
                            "issues closed."))


def _under_warranty(engagements: QuerySet[Engagement]) -> dict[int, str]:
    """Those whose certificate in force gives a warranty that runs still."""
    found, today = {}, timezone.localdate()
    for review in Review.objects.filter(
            document__engagement__in=engagements, phase=Review.Phase.FINAL).exclude(
            decision="").select_related("document").prefetch_related("signatures"):
        period = warranty_period(review) if review.document.state in Document.IN_FORCE else None
        if period and period[1] >= today:
            found[review.document.engagement_id] = _("It runs until %(day)s.") % {
                "day": period[1].isoformat()}
    return found


def _warranty_page(engagement: Engagement) -> str:
    return reverse("acceptance:warranty", args=[engagement.code])


def _documents_page(engagement: Engagement) -> str:
    return reverse("reports:engagement", args=[engagement.code])


register_condition(ClosingCondition(
    code="certificate", label=gettext_lazy("Final certificate"),
    met=gettext_lazy("Signed; it accepts each model."), open_of=_without_acceptance,
    url=_documents_page))
register_condition(ClosingCondition(
    code="documents", label=gettext_lazy("Documents"),
    met=gettext_lazy("None is being reviewed."),
    open_of=counted(Document.objects.filter(Q(state__in=(
        Document.State.IN_REVIEW, Document.State.REVIEWED, Document.State.ISSUING))
        | Q(state=Document.State.ISSUED, review__decision="")), lambda n: ngettext(
        "%(n)d document is being reviewed.", "%(n)d documents are being reviewed.", n) % {"n": n}),
    url=_documents_page))
register_condition(ClosingCondition(
    code="claims", label=gettext_lazy("Warranty claims"), met=gettext_lazy("None is open."),
    open_of=counted(WarrantyClaim.objects.filter(closed_at=None), _claims_open),
    url=_warranty_page))
register_condition(ClosingCondition(
    code="warranty", label=gettext_lazy("Warranty"), met=gettext_lazy("None runs."),
    open_of=_under_warranty, url=_warranty_page))
register_condition(ClosingCondition(
    code="operation", label=Stage.OPERATION.label,
    met=gettext_lazy("No model's operation is open."),
    open_of=counted(StageRecord.objects.filter(
        stage=Stage.OPERATION, model__dropped_at=None).exclude(state__in=DONE), lambda n: ngettext(
        "The operation of %(n)d model is open.", "The operation of %(n)d models is open.", n) % {
        "n": n}, "model__engagement"),
    url=lambda engagement: f"{reverse('engagements:engagement', args=[engagement.code])}#matrix"))
