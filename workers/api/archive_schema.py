"""What endpoints that answer with an archive say of it."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from workers.jobs.archive_answers import FORMATS

ARCHIVE = {(200, "application/x-tar"): OpenApiTypes.BINARY,
           (200, "application/zip"): OpenApiTypes.BINARY}
FORMAT = OpenApiParameter("as", str, enum=FORMATS, description="tar, or zip without links")
