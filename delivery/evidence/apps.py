from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "delivery.evidence"
    label = "evidence"

    def ready(self) -> None:
        from delivery.acceptance.review.deliverables import register_deliverables
        from delivery.evidence import audit_config  # noqa: F401  registers its tables
        from delivery.evidence.bundle.bundle_deliverable import newest_bundle

        register_deliverables(newest_bundle)
