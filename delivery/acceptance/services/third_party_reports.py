"""Test reports of accredited laboratories as evidence (DOMAIN AR-20)."""

import io
import re
from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import ThirdPartyReport
from delivery.documents.scan_validation import checked_scan
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import checked_insert
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from workers.artifacts.artifact_store import store_file


@transaction.atomic
def attach_third_party_report(
        *, actor: User, engagement: Engagement, laboratory: str, report_number: str,
        issued_on: date, scope: str, file, cnas_number: str = "", cma_number: str = ""
        ) -> ThirdPartyReport:
    """Keep a laboratory's report as a raw file of the engagement. Writes an audit entry.

    Raises InvalidInput for an empty field, no accreditation, a date to come, a file that is no
    plain PDF, PNG or JPEG, or a report that is attached already.
    """
    require(actor, Can.WORK, engagement)
    fields = {"laboratory": laboratory.strip()[:160], "scope": scope.strip()[:4000],
             "report_number": report_number.strip()[:80], "issued_on": issued_on,
             "cnas_number": re.sub(r"\s|CNAS", "", cnas_number, flags=re.IGNORECASE)[:40],
             "cma_number": re.sub(r"\s|CMA", "", cma_number, flags=re.IGNORECASE)[:40]}
    _check(engagement, fields)
    scan = checked_scan(file)
    with checked_insert(lambda: _require_none_attached(engagement, fields)):
        artifact = store_file(stream=io.BytesIO(scan.content), name=scan.name,
                              engagement=engagement, uploaded_by=actor)
        made = ThirdPartyReport.objects.create(engagement=engagement, artifact=artifact,
                                               recorded_by=actor, **fields)
    audit_log.record(actor=actor, action="third_party.attach", target=made, engagement=engagement,
                     data={**fields, "sha256": artifact.sha256})
    return made


def _check(engagement: Engagement, fields: dict) -> None:
    if not (fields["laboratory"] and fields["report_number"] and fields["scope"]):
        raise InvalidInput(_("Name the laboratory, the number of its report and what was tested."))
    if not (fields["cnas_number"] or fields["cma_number"]):
        raise InvalidInput(_("Give the laboratory's CNAS or CMA number; a report without "
                             "accreditation is no third-party evidence."))
    if fields["issued_on"] > timezone.localdate():
        raise InvalidInput(_("The report's date is in the future."))


def _require_none_attached(engagement: Engagement, fields: dict) -> None:
    if ThirdPartyReport.objects.in_force().filter(
            engagement=engagement, laboratory=fields["laboratory"],
            report_number=fields["report_number"]).exists():
        raise InvalidInput(_("This report has already been attached."))


@transaction.atomic
def withdraw_third_party_report(*, actor: User, report: ThirdPartyReport, reason: str
                                ) -> ThirdPartyReport:
    """Take a report out of the evidence; it and its file stay readable. Needs a reason."""
    require(actor, Can.MANAGE, report.engagement)
    report = ThirdPartyReport.objects.select_for_update(of=("self",), no_key=True).get(pk=report.pk)
    if report.withdrawn_at:
        raise WrongState(_("This report has already been withdrawn."))
    if not reason.strip():
        raise InvalidInput(_("Give the reason."))
    report.withdrawn_at, report.withdrawn_by = timezone.now(), actor
    report.withdrawal = reason.strip()[:400]
    report.save()
    audit_log.record(actor=actor, action="third_party.withdraw", target=report,
                     engagement=report.engagement, data={"reason": report.withdrawal})
    return report
