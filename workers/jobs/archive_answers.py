"""Archives as downloads that the audit log names."""

from collections.abc import Iterator

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

from engagements.audit import download_log


def archive_answer(pieces: Iterator[bytes], name: str, target, size: int = 0) -> HttpResponse:
    """A tar archive, passed on piece by piece.

    Args:
        target: the row that it belongs to. size: in bytes; 0 where nobody knows.
    """
    answer = StreamingHttpResponse(pieces, content_type="application/x-tar")
    answer["Content-Disposition"] = content_disposition_header(True, name)
    if size:
        answer["Content-Length"] = str(size)
    return download_log.of(answer, target)
