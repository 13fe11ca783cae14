"""Public page that verifies an issued document by number and checksum, without log-in."""

from django.contrib.auth.decorators import login_not_required
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from delivery.acceptance.document_verification import is_within_rate_limit, verify_document
from delivery.acceptance.forms import VerificationForm


@login_not_required
@never_cache
@require_GET
def verify(request):
    """A form; with number and hash, from the form or the QR code, the answer."""
    form = VerificationForm(request.GET or None)
    context = {"form": form}
    if not form.is_bound:
        return _page(request, context)
    if not is_within_rate_limit(request.META.get("REMOTE_ADDR", "")):
        return _page(request, {**context, "is_limited": True}, 429)
    is_plain = form.is_valid()
    found = verify_document(form.cleaned_data["number"], form.cleaned_data["hash"]
                            ) if is_plain else None
    return _page(request, {**context, "is_asked": is_plain, "found": found})


def _page(request, context: dict, status: int = 200):
    answer = render(request, "delivery/acceptance/document_verification.html", context,
                    status=status)
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Robots-Tag"] = "noindex"
    return answer
