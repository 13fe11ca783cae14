"""Sheets that both sides confirm: what exactly, and who has (DOMAIN AR-02, AR-04)."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from assessments.models import Baseline, Confirmation, CriteriaSet, Side
from bundle_verifier import canonical
from engagements.access import Can, allowed, require
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Engagement, User
from workers.models import Artifact

SCAN_SIGNATURES = (b"%PDF-", b"\x89PNG\r\n", b"\xff\xd8\xff")


def side_of(user: User) -> str:
    """The side for which a person confirms. Raises NotAllowed for other roles."""
    if allowed(user, Can.REVIEW):
        return Side.CUSTOMER
    if allowed(user, Can.MANAGE):
        return Side.FIRM
    raise NotAllowed(_("A project manager confirms for the supplier, a reviewer for the "
                       "customer."))


@dataclass(frozen=True)
class SignedSheet:
    """A sheet that the customer signed on paper: its scan, and the name and position on it."""

    scan: Artifact
    signatory: str


def signed_sheet_of(scan: Artifact | None, signatory: str) -> SignedSheet | None:
    """The sheet, where there is one. Raises InvalidInput for a scan without a name, a name
    without a scan."""
    if signatory.strip() and scan is None:
        raise InvalidInput(_("A typed name is not a signature: attach the scan of the signed "
                             "sheet, or let the customer confirm with their own account."))
    if scan and not signatory.strip():
        raise InvalidInput(_("Enter who signed the sheet for the customer."))
    return SignedSheet(scan, signatory.strip()) if scan else None


def confirm(*, actor: User, engagement: Engagement, content_hash: str,
            criteria_set: CriteriaSet | None = None, baseline: Baseline | None = None,
            sheet: SignedSheet | None = None) -> set[str]:
    """Note that the actor's side confirms this content; the sides that have. Safe to repeat.

    With a signed sheet a manager enters the customer's confirmation. To be called within the
    caller's transaction, which also keeps the audit entry. Raises InvalidInput for a scan that
    is none.
    """
    side = Side.CUSTOMER if sheet else side_of(actor)
    is_own = side == Side.CUSTOMER and sheet is None
    require(actor, Can.REVIEW if is_own else Can.MANAGE, engagement)
    paper = {}
    if sheet:
        _require_scan(sheet.scan, engagement)
        paper = {"scan": sheet.scan, "signatory": sheet.signatory[:120]}
    Confirmation.objects.get_or_create(
        criteria_set=criteria_set, baseline=baseline, side=side, content_hash=content_hash,
        defaults={"confirmed_by": actor, **paper})
    return {entry.side for entry in confirmations(content_hash, criteria_set=criteria_set,
                                                  baseline=baseline)}


def _require_scan(scan: Artifact, engagement: Engagement) -> None:
    if scan.engagement_id != engagement.pk:
        raise InvalidInput(_("The file belongs to another engagement."))
    with scan.file.open("rb") as file:
        if not file.read(8).startswith(SCAN_SIGNATURES):
            raise InvalidInput(_("The scan of a signed sheet is a PDF, PNG or JPEG file."))


def confirmations(content_hash: str, *, criteria_set: CriteriaSet | None = None,
                  baseline: Baseline | None = None) -> list[Confirmation]:
    """Who has confirmed exactly this content; a changed sheet needs new confirmations."""
    return list(Confirmation.objects.filter(
        criteria_set=criteria_set, baseline=baseline, content_hash=content_hash,
    ).select_related("confirmed_by"))


def baseline_facts(baseline: Baseline) -> dict:
    """The sheet's content as plain data; re-measurements come later and are not part of it."""
    names = ("quantity", "unit", "environment", "hardware", "software", "data_set", "seeds",
             "source")
    return {
        **{name: getattr(baseline, name) for name in names},
        **({"origin": baseline.origin} if baseline.origin else {}),
        "model": baseline.model.code, "sha256": baseline.artifact.sha256,
        "value": None if baseline.value is None else f"{baseline.value.normalize():f}",
        "runs": [{"sha256": run.artifact.sha256, "value": repr(run.value)}
                 for run in baseline.runs.filter(is_remeasurement=False).select_related(
                     "artifact")],
    }


def baseline_hash(baseline: Baseline) -> str:
    """SHA-256 of the sheet."""
    return canonical.content_hash(baseline_facts(baseline), canonical.SPACED)
