from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "delivery.notices"
    label = "notices"

    def ready(self) -> None:
        """Register audited tables, kinds of channels and the language of e-mails."""
        from delivery.notices import audit_config  # noqa: F401
        from delivery.notices.models import MailSetting
        from delivery.notices.transport import channel_protocols  # noqa: F401
        from engagements.bilingual_mail import register_chosen_language

        register_chosen_language(MailSetting.language_of)
