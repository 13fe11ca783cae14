"""Evidence bundles as the API shows them."""

from rest_framework import serializers

from delivery.evidence.models import EvidenceBundle
from delivery.reports.models import Document


class BundleSerializer(serializers.ModelSerializer):
    class Meta:
        model = EvidenceBundle
        fields = ["id", "document", "size", "sha256", "is_practice", "signer", "fingerprint",
                  "stamped_at", "withheld", "created_at"]
        read_only_fields = fields


class NewBundleSerializer(serializers.Serializer):
    """`withheld`: artifacts for which only their checksum goes in."""

    document = serializers.PrimaryKeyRelatedField(queryset=Document.objects.all())
    withheld = serializers.ListField(child=serializers.IntegerField(), required=False,
                                     default=list)
