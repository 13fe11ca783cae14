"""Downloads that go on where they broke off: ETag and byte ranges of every stored file."""

import hashlib

from django.db.models.fields.files import FieldFile
from django.http import FileResponse, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from whitenoise.responders import SlicedFile, StaticFile


class ByteRanges:
    """Middleware. What is stored never changes under its name: the name makes the ETag."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        stored = getattr(answer, "file_to_stream", None)
        if answer.status_code != 200 or not isinstance(stored, FieldFile):
            return answer
        answer["ETag"] = f'"{hashlib.sha256(stored.name.encode()).hexdigest()[:32]}"'
        answer["Accept-Ranges"] = "bytes"
        found = get_conditional_response(request, etag=answer["ETag"], response=answer)
        if found is not answer:
            answer.close()
            return found
        return _part_of(answer, request, stored) if request.method == "GET" else answer


def _part_of(answer: FileResponse, request: HttpRequest, stored: FieldFile) -> HttpResponse:
    """The bytes that are asked for; all of them where the request cannot be understood."""
    if request.headers.get("If-Range", answer["ETag"]) != answer["ETag"]:
        return answer
    try:
        first, last = StaticFile.parse_byte_range(request.headers.get("Range", ""))
    except ValueError:
        return answer
    size = int(answer["Content-Length"])
    first = max(size + first, 0) if first < 0 else first
    last = size - 1 if last is None else min(last, size - 1)
    if first > last:
        answer.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    answer.streaming_content = SlicedFile(stored, first, last)
    answer.status_code = 206
    answer["Content-Length"] = last - first + 1
    answer["Content-Range"] = f"bytes {first}-{last}/{size}"
    return answer
