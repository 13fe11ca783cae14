"""How many people the firm asks for, per kind of object."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet


class DutySetting(models.Model):
    """Two people instead of three for a kind of object; without a row three are asked for.

    Whatever is set, an author never approves.
    """

    class People(models.TextChoices):
        THREE = "three", _("three people: author, reviewer, approver")
        REVIEWER_APPROVES = "reviewer_approves", _("two people: the reviewer may approve as well")
        AUTHOR_REVIEWS = "author_reviews", _("two people: the author may review as well")

    kind = models.CharField(_("kind"), max_length=20, unique=True)
    people = models.CharField(_("people"), max_length=20, choices=People, default=People.THREE)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["kind"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.get_people_display()}"
