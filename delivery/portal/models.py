from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet


class SavedViewQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "SavedViewQuerySet":
        """One's own."""
        return self.filter(user=user)


class SavedView(models.Model):
    """A person's filter, order and columns of the portfolio under a name."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE,
                             related_name="portfolio_views")
    name = models.CharField(_("name"), max_length=60)
    query = models.CharField(max_length=600, blank=True)  # the address's query string

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"],
                                               name="one_saved_view_per_name")]

    def __str__(self) -> str:
        return self.name
