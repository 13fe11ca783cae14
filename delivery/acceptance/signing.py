"""The facts of a signature page, in both languages."""

from delivery.acceptance.models import Review
from delivery.reports.bilingual import both, instant


def signed_facts(review: Review) -> dict:
    """Decision, conditions, comments and signatures as plain facts for the signed copy."""
    return {
        "decision": review.decision, "decision_label": both(review.get_decision_display),
        "reason": review.reason, "decided_at": instant(review.decided_at),
        "decided_by": str(review.decided_by or ""),
        "conditions": [{"description": row.description, "owner": row.owner,
                        "due_on": f"{row.due_on:%Y-%m-%d}"} for row in review.conditions.all()],
        "comments": [{"at": instant(row.at), "who": str(row.author), "text": row.text}
                     for row in review.comments.select_related("author")],
        "signatures": [{"name": row.name, "capacity": row.capacity,
                        "account": row.signer.username, "at": instant(row.at),
                        "ip": row.ip_address or "", "hash": row.signed_hash}
                       for row in review.signatures.select_related("signer")],
    }
