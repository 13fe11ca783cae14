"""Where somebody is signed in."""

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class SignInQuerySet(models.QuerySet):
    def visible_to(self, user) -> "SignInQuerySet":
        """One's own, while they last."""
        return self.filter(user_id=user.pk, session__expire_date__gt=timezone.now())


class SignIn(models.Model):
    """One browser of one person. Deleting the session ends the sign-in and deletes this row."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="sign_ins")
    session = models.OneToOneField(Session, models.CASCADE, related_name="sign_in")
    address = models.GenericIPAddressField(_("address"), null=True)
    browser = models.CharField(_("browser"), max_length=240, blank=True)
    began_at = models.DateTimeField(_("signed in"), default=timezone.now)

    objects = SignInQuerySet.as_manager()

    class Meta:
        ordering = ["-began_at", "-pk"]
        verbose_name = _("sign-in")

    def __str__(self) -> str:
        return f"{self.user} {self.address or ''}".strip()
