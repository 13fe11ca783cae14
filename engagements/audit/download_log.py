"""Every file that leaves through a page or the API stands in the audit log (DOMAIN AR-11)."""

import re

from django.http import HttpRequest, HttpResponse

from engagements.audit import audit_log

NAME = re.compile(r"filename\*?=(?:utf-8'')?\"?([^\";]+)", re.IGNORECASE)
SENT = (200, 206)


def of(answer: HttpResponse, target) -> HttpResponse:
    """Name the row that an answer's file belongs to; without it the entry names the person."""
    answer.downloaded = target
    return answer


class DownloadLog:
    """Middleware: an answer that carries a file name, sent to somebody who is logged in."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        name = NAME.search(answer.get("Content-Disposition", ""))
        if name and request.method == "GET" and answer.status_code in SENT and (
                request.user.is_authenticated):
            target = getattr(answer, "downloaded", request.user)
            audit_log.record(actor=request.user, action="file.download", target=target,
                             engagement=getattr(target, "engagement", None),
                             data={"file": name.group(1)[:200], "path": request.path[:300]})
        return answer
