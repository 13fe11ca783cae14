"""Archives as downloads that the audit log names."""

from collections.abc import Iterator

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

from engagements.audit import download_log
from workers.jobs.zip_stream import zipped

FORMATS = ("tar", "zip")


def archive_answer(pieces: Iterator[bytes], name: str, target, size: int = 0,
                   wanted: str = "") -> HttpResponse:
    """A tar archive, passed on piece by piece; or the same as zip.

    Args:
        name: without an ending. target: the row that it belongs to.
        size: in bytes; 0 where nobody knows. wanted: of FORMATS; tar for anything else.
    """
    as_zip = wanted == "zip"
    answer = StreamingHttpResponse(
        zipped(pieces) if as_zip else pieces,
        content_type="application/zip" if as_zip else "application/x-tar")
    answer["Content-Disposition"] = content_disposition_header(
        True, f"{name}.{'zip' if as_zip else 'tar'}")
    if size and not as_zip:
        answer["Content-Length"] = str(size)
    return download_log.of(answer, target)
