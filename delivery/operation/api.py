"""REST endpoints of stored files that were read again."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from delivery.operation.dependents import dependents_of
from delivery.operation.models import DamagedFile, FileRound
from engagements.web.scoped_viewset import ScopedViewSet


class DependentSerializer(serializers.Serializer):
    """What rests on a file; `url` is empty where there is no page."""

    text = serializers.CharField()
    url = serializers.CharField()
    is_document = serializers.BooleanField()


class DamagedFileSerializer(serializers.ModelSerializer):
    dependents = serializers.SerializerMethodField()

    class Meta:
        model = DamagedFile
        fields = ["id", "name", "fault", "cause", "sha256", "found_sha256", "found_at", "seen_at",
                  "healed_at", "dependents"]
        read_only_fields = fields

    @extend_schema_field(DependentSerializer(many=True))
    def get_dependents(self, damage: DamagedFile) -> list[dict]:
        return DependentSerializer(dependents_of(damage.name), many=True).data


class FileRoundSerializer(serializers.ModelSerializer):
    class Meta:
        model = FileRound
        fields = ["id", "started_at", "ended_at", "files", "bytes", "unproven"]
        read_only_fields = fields


class DamagedFileViewSet(ScopedViewSet):
    """Stored files that are not what their rows say; those that were found sound again are kept."""

    queryset = DamagedFile.objects.all()
    serializer_class = DamagedFileSerializer
    filterset_fields = ["fault"]


class FileRoundViewSet(ScopedViewSet):
    """Walks through all stored files, the newest first; the open one has no end."""

    queryset = FileRound.objects.all()
    serializer_class = FileRoundSerializer


routes = [
    ("damaged-files", DamagedFileViewSet, "damaged-file"),
    ("file-rounds", FileRoundViewSet, "file-round"),
]
