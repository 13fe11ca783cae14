"""Documents as the API shows them."""

from rest_framework import serializers

from delivery.reports.models import Document, DocumentFile


class DocumentFileSerializer(serializers.ModelSerializer):
    name = serializers.CharField(source="download_name", read_only=True)

    class Meta:
        model = DocumentFile
        fields = ["id", "language", "format", "name", "size", "sha256", "created_at"]


class DocumentSerializer(serializers.ModelSerializer):
    """`snapshot` holds every fact of the document; `content_hash` is its SHA-256."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    files = DocumentFileSerializer(many=True, read_only=True)

    class Meta:
        model = Document
        fields = ["id", "engagement", "kind", "number", "version", "state", "content_hash",
                  "is_practice", "replaces", "change_note", "created_at", "issued_at", "files"]
        read_only_fields = fields


class DocumentDetailSerializer(DocumentSerializer):
    class Meta(DocumentSerializer.Meta):
        fields = [*DocumentSerializer.Meta.fields, "snapshot"]
        read_only_fields = fields


class DraftSerializer(serializers.Serializer):
    """What a draft is made from."""

    engagement = serializers.CharField(help_text="project code")
    kind = serializers.ChoiceField(Document.Kind.choices)


class CorrectionSerializer(serializers.Serializer):
    """Why a new version is made."""

    reason = serializers.CharField(max_length=400)
