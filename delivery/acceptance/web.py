"""What pages and API of this app share: where a signature comes from, and file downloads."""

from django.http import FileResponse

from delivery.documents.views.file_answers import answer_upload


def signature_origin(request) -> dict:
    """IP address and browser of the request, as keyword arguments of `services.sign`."""
    return {"ip_address": request.META.get("REMOTE_ADDR"),
            "user_agent": request.META.get("HTTP_USER_AGENT", "")}


def download(stored, name: str) -> FileResponse:
    """An uploaded file as an attachment that no browser runs; 404 if the storage lost it."""
    holder = stored.instance
    return answer_upload(stored, name, holder.review.document if hasattr(holder, "review")
                         else holder)
