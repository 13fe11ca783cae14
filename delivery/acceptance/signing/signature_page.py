"""The facts of the signature page and its audit certificate, in both languages."""

from datetime import UTC

from django.db.models import Max
from django.utils.translation import gettext as _

from delivery.acceptance.certificates import warranty_period
from delivery.acceptance.models import BlockerWaiver, Review, Signature
from delivery.acceptance.signing import drawn_signature
from delivery.acceptance.signing.seals.certificate import is_practice_seal
from delivery.documents.bilingual import both, instant, named
from delivery.reports.facts.waivers_and_omissions import blocker_waiver
from delivery.reports.models import Document
from engagements.audit import audit_log
from engagements.models import AuditEntry

OPENED = "file.download"  # of the customer's people; those of the team are its own work
# Audit actions that the audit certificate lists; others are about the team's own work.
CERTIFICATE_ACTIONS = {
    "document.issue": lambda: _("issued"), "review.open": lambda: _("review opened"),
    "review.comment": lambda: _("comment"),
    "review.resolve": lambda: _("comment resolved"),
    "review.receipt": lambda: _("receipt of deliverables"), "review.decide": lambda: _("decision"),
    "review.signers": lambda: _("order of signers set"),
    "review.identify": lambda: _("terms accepted, one-time code sent"),
    "review.decline": lambda: _("signature declined"),
    "review.notice": lambda: _("proof of notice recorded"),
    "review.wrong_code": lambda: _("wrong code"),
    "review.delegate": lambda: _("signature handed over"),
    "review.condition_report": lambda: _("condition reported as done"),
    "review.condition_close": lambda: _("condition closed"),
    "review.condition_send_back": lambda: _("condition sent back"),
    "review.condition_reopen": lambda: _("condition reopened"),
    OPENED: lambda: _("document opened"), "document.sign": lambda: _("signed"),
}


def signed_facts(review: Review) -> dict:
    """Decision, conditions, waivers, comments, signatures and the log behind them, as plain
    facts."""
    last_signed = review.signatures.aggregate(at=Max("at"))["at"]
    return {
        "decision": review.decision, "decision_label": both(review.get_decision_display),
        "phase": review.phase, "phase_label": both(review.get_phase_display),
        "reason": review.reason, "decided_at": instant(review.decided_at),
        "decided_by": named(review.decided_by), "retest_on": _day(review.retest_on),
        "trial_ends_on": _day(review.trial_ends_on),
        "models": [{"model": row.model.code, "decision": row.decision,
                    "label": both(row.get_decision_display), "reason": row.reason}
                   for row in review.model_decisions.select_related("model")],
        "conditions": [{"description": row.description, "owner": row.owner,
                        "model": row.model.code if row.model else "",
                        "due_on": _day(row.due_on), "effect": both(row.get_effect_display)}
                       for row in review.conditions.select_related("model")],
        "comments": [{"at": instant(row.at), "who": named(row.author), "text": row.text}
                     for row in review.comments.for_customers().select_related("author")],
        "waivers": [blocker_waiver(row) for row in BlockerWaiver.objects.in_force(
            review.engagement).select_related("signed_by").filter(signed_at__lte=last_signed)] if (
                last_signed and review.phase == Review.Phase.FINAL) else [],
        "receipts": [{"title": row.title, "version": row.version, "sha256": row.sha256,
                      "who": named(row.received_by), "at": instant(row.at),
                      "is_complete": row.is_complete, "remark": row.remark}
                     for row in review.receipts.select_related("received_by")],
        "signatures": [_signature(row) for row in
                       review.signatures.select_related("signer", "identification", "power")],
        "notices": [{"channel": both(row.get_channel_display), "addressee": row.addressee,
                     "reference": row.reference, "delivered_on": _day(row.delivered_on),
                     "sha256": row.sha256} for row in review.notice_proofs.all()],
        "warranty": [f"{day}" for day in warranty_period(review) or ()],
        "events": log_entries_of(review.document),
        "is_practice_seal": is_practice_seal(is_practice=review.document.is_practice),
    }


def _day(day) -> str:
    return day.isoformat() if day else ""


def _signature(row: Signature) -> dict:
    power = row.power
    return {
        "name": row.name, "capacity": row.capacity, "account": row.signer.username,
        "at": instant(row.at), "ip": row.ip_address or "",
        "at_utc": row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "agent": row.user_agent, "hash": row.signed_hash,
        "files": [{"language": language, "sha256": digest}
                  for language, digest in sorted(row.file_hashes.items())],
        "mark": row.mark, "mark_label": both(row.get_mark_display),
        "drawing": both(lambda: drawn_signature.as_svg(row.strokes)) if row.strokes else "",
        "scan": row.scan_name, "scan_sha256": row.scan_sha256,
        "code_way": row.identification.way,
        "code_to": row.identification.sent_to, "code_at": instant(row.identification.sent_at),
        "power": power and {
            "granted_by": power.granted_by, "valid_from": _day(power.valid_from),
            "valid_until": _day(power.valid_until), "file": power.file_name,
            "sha256": power.sha256},
        "terms": row.identification.terms_version,
        "terms_hash": row.identification.terms_hash,
        "statement": row.identification.statement_hash,
    }


def log_entries_of(document: Document) -> list[dict]:
    """The log's entries of a document, oldest first, with the hashes that chain them."""
    entries = AuditEntry.objects.filter(
        target_type="reports.document", target_id=str(document.pk), action__in=CERTIFICATE_ACTIONS
    ).select_related("actor").order_by("pk")
    archived = audit_log.archived_entries(
        document.engagement,
        lambda entry: entry.target_type == "reports.document"
        and entry.target_id == str(document.pk) and entry.action in CERTIFICATE_ACTIONS)
    shown = (entry for entry in (*archived, *entries)
             if entry.action != OPENED or getattr(entry.actor, "is_reviewer", False))
    return [{"number": entry.pk, "at": instant(entry.at), "who": named(entry.actor),
             "action": entry.action, "label": both(CERTIFICATE_ACTIONS[entry.action]),
             "ip": entry.data.get("ip", ""), "decision": entry.data.get("decision", ""),
             "hash": entry.entry_hash} for entry in shown]
