from django.apps import AppConfig, apps
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import do_not_track

LIBRARY_APPS = ("account", "socialaccount", "mfa")


class SignOnConfig(AppConfig):
    name = "delivery.sign_on"
    verbose_name = _("Single sign-on")

    def ready(self) -> None:
        """The library's tables are no statements of this product's people; who has a second factor
        gets neither an API token nor the administration for the first one alone."""
        from allauth.account.decorators import secure_admin_login
        from django.contrib import admin

        from delivery.sign_on.second_factor import has_or_needs_one
        from engagements.web.password_tokens import register_second_factor

        admin.site.login = secure_admin_login(admin.site.login)
        register_second_factor(has_or_needs_one)
        do_not_track({model: "django-allauth's own: how somebody signs in"
                      for app in LIBRARY_APPS for model in apps.get_app_config(app).get_models()})
