"""Storing evidence bundles."""

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.evidence.bundle.bundle_writer import write_bundle
from delivery.evidence.models import EvidenceBundle
from delivery.reports.models import Document
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User


def build_bundle(*, actor: User, engagement: Engagement, document: Document | None = None,
                 withheld: Collection[int] = ()) -> EvidenceBundle:
    """Store the evidence zip of an issued document (the newest one by default).

    Args:
        withheld: artifacts for which only their checksum goes in (confidential, AR-19).

    Raises InvalidInput naming a raw file that is missing or changed.
    """
    require(actor, Can.REVIEW if actor.is_reviewer else Can.WORK, engagement,
            may_have_ended=True)
    document = document or engagement.documents.frozen().with_evidence().first()
    if document is None or not document.is_frozen or not document.holds_evidence:
        raise WrongState(_("Issue a document first; a bundle belongs to one."))
    if document.engagement_id != engagement.pk:
        raise InvalidInput(_("The document belongs to another engagement."))
    fresh = Document.objects.select_related("engagement", "review").get(pk=document.pk)
    bundle = write_bundle(fresh, frozenset(withheld))
    with transaction.atomic():
        bundle.save()
        audit_log.record(actor=actor, action="bundle.build", target=document,
                         engagement=engagement,
                         data={"sha256": bundle.sha256, "withheld": bundle.withheld})
    return bundle
