"""The page that compares the reviewed document with the newest verdicts."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.acceptance.review.retest_comparison import compare_with_current
from delivery.acceptance.views.lookups import review_of


@require_GET
def retest(request, pk):
    """What the reviewed document said of each criterion, beside what is judged now."""
    found = review_of(request, pk)
    successor = found.document.successors.select_related("review").order_by("-pk").first()
    rows = compare_with_current(found, request.LANGUAGE_CODE)
    changed = sorted((row for row in rows if row["is_changed"] or row["is_rejected"]),
                     key=lambda row: not row["is_changed"])
    return render(request, "delivery/acceptance/retest_comparison.html", {
        "review": found, "document": found.document, "engagement": found.document.engagement,
        "rows": rows, "changed": changed,
        "unchanged": [row for row in rows if row not in changed],
        "successor": successor if successor and (
            successor.is_frozen or not request.user.is_reviewer) else None,
        "repeated": sum(row["is_changed"] for row in rows)})
