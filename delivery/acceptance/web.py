"""What pages and API of this app share: where a signature comes from, and file downloads."""

from django.http import FileResponse, Http404
from django.utils.translation import gettext as _

from engagements.audit import download_log


def signature_origin(request) -> dict:
    """IP address and browser of the request, as keyword arguments of `services.sign`."""
    return {"ip_address": request.META.get("REMOTE_ADDR"),
            "user_agent": request.META.get("HTTP_USER_AGENT", "")}


def download(stored, name: str) -> FileResponse:
    """An uploaded file as an attachment that no browser runs; 404 if the storage lost it."""
    try:
        stream = stored.open("rb")
    except OSError as error:
        raise Http404 from error
    response = FileResponse(stream, as_attachment=True, filename=name or _("file"),
                            content_type="application/octet-stream")
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    holder = stored.instance
    return download_log.of(response, holder.review.document if hasattr(holder, "review")
                           else holder)
