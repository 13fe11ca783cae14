from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Wording(models.Model):
    """A standard text that the firm changed; drafts written from now on start with it."""

    code = models.CharField(_("passage"), max_length=60, unique=True)
    zh = models.TextField(_("Chinese text"), max_length=8000)
    en = models.TextField(_("English text"), max_length=8000, blank=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code
