"""Serializers of document branding."""

from rest_framework import serializers

from delivery.documents.models import BrandingVersion
from engagements.models import Customer


class BrandingSerializer(serializers.ModelSerializer):
    """A version of the branding of documents: of the firm, or for one customer."""

    customer = serializers.PrimaryKeyRelatedField(
        queryset=Customer.objects.all(), required=False, allow_null=True, default=None,
        help_text="empty: the firm's own documents")
    logo = serializers.FileField(
        write_only=True, required=False, help_text="PNG, JPEG or SVG, 1 MB; without: as before")
    partner_logo = serializers.FileField(
        write_only=True, required=False, help_text="the customer's logo, printed beside ours")
    without_logo = serializers.BooleanField(write_only=True, required=False, default=False)
    without_partner_logo = serializers.BooleanField(write_only=True, required=False, default=False)
    has_logo = serializers.SerializerMethodField()
    has_partner_logo = serializers.SerializerMethodField()
    made_by = serializers.CharField(read_only=True)

    class Meta:
        model = BrandingVersion
        fields = ["id", "customer", "version", "colour", "accent", "cover", "header_zh",
                  "header_en", "confidentiality_zh", "confidentiality_en", "seal_mm", "logo",
                  "partner_logo", "without_logo", "without_partner_logo", "has_logo",
                  "has_partner_logo", "made_by", "made_at"]
        read_only_fields = ["version", "made_at"]
        validators = []  # the service numbers the versions

    def get_has_logo(self, row) -> bool:
        return bool(row.logo)

    def get_has_partner_logo(self, row) -> bool:
        return bool(row.partner_logo)

    def fields_for_service(self) -> dict:
        """The checked values as `save_branding` takes them."""
        found = dict(self.validated_data)
        for name in ("logo", "partner_logo"):
            upload, is_removed = found.pop(name, None), found.pop(f"without_{name}")
            found[name] = b"" if is_removed else read_upload(upload)
        return found


def read_upload(upload) -> bytes | None:
    """What was uploaded, cut just beyond what a logo may weigh; None for no file."""
    from delivery.documents.branding.logos import MOST_BYTES

    return upload.read(MOST_BYTES + 1) if upload else None
