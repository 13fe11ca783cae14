from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "delivery.documents"
    label = "documents"

    def ready(self) -> None:
        from delivery.documents import audit_config  # noqa: F401
        from delivery.documents.models import CompanyProfile
        from engagements.bilingual_mail import register_sender
        from engagements.models.localization import localized

        def firm() -> str:
            profile = CompanyProfile.current()
            return localized(profile.name, profile.name_en)

        register_sender(firm)
