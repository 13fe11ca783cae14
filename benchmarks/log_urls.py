"""The product's pages, and a job's log as server-sent events as well as it can be done here.

The stream gives its database connection back while it waits, and asks the row only after the
file has changed; what it cannot give back is its thread.
"""

import json
import time

from django.db import connection
from django.http import StreamingHttpResponse
from django.urls import include, path

from workers.logs import live_log
from workers.views.jobs import _job

LOOK_SECONDS = 0.2  # as often as the page asks while a log grows


def stream(request, pk):
    """Text as `data:` lines from `offset` on, until the reader goes."""
    job = _job(request, pk)
    return StreamingHttpResponse(_events(job, int(request.GET["offset"])),
                                 content_type="text/event-stream")


def _events(job, offset: int):
    file, seen = live_log.path(job), -1
    while True:
        if file.exists() and (size := file.stat().st_size) != seen:
            seen = size
            job.refresh_from_db(fields=["log_stored", "state"])
            connection.close()
            text, offset = live_log.read(job, offset)
            yield f"id: {offset}\ndata: {json.dumps(text)}\n\n"
        time.sleep(LOOK_SECONDS)


urlpatterns = [path("bench/stream/<int:pk>/", stream), path("", include("delivery.urls"))]
