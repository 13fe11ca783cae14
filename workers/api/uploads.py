"""REST endpoints of uploads in parts."""

import io
import re
from base64 import b64decode

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.parsers import BaseParser

from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating
from engagements.web.visible_field import VisibleField
from toolreaders.number_parsing import whole_number
from workers.models import PendingUpload
from workers.services import resumable_uploads

PIECE = 2**20
SHA256_OF_CONTENT = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):")  # RFC 9530


class BytesParser(BaseParser):
    """Hands the body on as a stream."""

    media_type = "application/octet-stream"

    def parse(self, stream, media_type=None, parser_context=None):
        return {"stream": stream}


class PendingUploadSerializer(NamesEngagement):
    """`artifact` is the stored file, once all has arrived."""

    engagement = VisibleField(queryset=Engagement.objects.all())
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)

    class Meta:
        model = PendingUpload
        fields = ["id", "engagement", "model", "name", "note", "purpose", "size", "received",
                  "artifact", "created_at"]
        read_only_fields = ["received", "artifact", "created_at"]


class PendingUploadViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """One's uploads that are under way: announce a file, then PUT its parts in order."""

    queryset = PendingUpload.objects.select_related("engagement", "model")
    serializer_class = PendingUploadSerializer
    perform_create = creating(resumable_uploads.start_upload)

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("Upload-Offset", int, OpenApiParameter.HEADER, required=True,
                                     description="bytes that came before this part"),
                    OpenApiParameter("Content-Digest", str, OpenApiParameter.HEADER,
                                     description="`sha-256=:…:` of the part (RFC 9530); a part "
                                                 "that arrived otherwise is refused")])
    @action(detail=True, methods=["put"], parser_classes=[BytesParser])
    def content(self, request, pk=None):
        """The next part. After a cut ask for `received` and go on from there."""
        upload = self.get_object()
        offset = whole_number(request.headers.get("Upload-Offset"))
        stream = request.data.get("stream") or io.BytesIO()  # an empty body is not parsed
        return self.shown(resumable_uploads.append_part(
            actor=request.user, upload=upload, offset=-1 if offset is None else offset,
            pieces=iter(lambda: stream.read(PIECE), b""), sha256=_declared_sha256(request)))


def _declared_sha256(request) -> str:
    """What the sender says of the part, as hexadecimal; empty where it says nothing."""
    if not (digest := request.headers.get("Content-Digest")):
        return ""
    if not (found := SHA256_OF_CONTENT.search(digest)):
        raise InvalidInput(_("Content-Digest: sha-256=:…: with the checksum as base64 is "
                             "expected (RFC 9530)."))
    return b64decode(found[1]).hex()


routes = [("uploads", PendingUploadViewSet, "upload")]
