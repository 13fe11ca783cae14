"""How pages answer a request for a file."""

from collections.abc import Callable

from django.contrib import messages
from django.db.models import Model
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from delivery.documents.models.issued_file import CONTENT_TYPES
from engagements.audit import download_log
from engagements.errors import DeskError


def answer_file(request: HttpRequest, content: Callable[[], bytes], *, name: str, target: Model,
                page: str) -> HttpResponse:
    """The file, a PDF in the browser and others as a download; its page with the reason as a
    message while there is none.

    Args:
        name: the file's name, whose ending decides its content type.
        target: the row that the download's audit entry names.
        page: address of the page that leads to the file.
    """
    ending = name.rpartition(".")[2]
    try:
        data = content()
    except DeskError as error:
        messages.warning(request, error.message)
        return redirect(page)
    how = "inline" if ending == "pdf" else "attachment"
    return download_log.of(HttpResponse(data, content_type=CONTENT_TYPES[ending], headers={
        "Content-Disposition": f'{how}; filename="{name}"'}), target)


def answer_upload(stored, name: str, target: Model) -> FileResponse:
    """An uploaded file as an attachment that no browser runs; 404 if there is none, or
    the storage lost it.

    Args:
        name: as it was uploaded; a plain word where nobody said one.
        target: the row that the download's audit entry names.
    """
    try:
        stream = stored.open("rb")
    except (OSError, ValueError) as error:  # the latter where there is none
        raise Http404 from error
    return download_log.of(FileResponse(
        stream, as_attachment=True, filename=name or _("file"),
        content_type="application/octet-stream",
        headers={"Content-Security-Policy": "sandbox; default-src 'none'"}), target)
