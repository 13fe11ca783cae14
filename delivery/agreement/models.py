from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.models.visibility import in_engagements_of


class AgreementQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "AgreementQuerySet":
        """Those of visible engagements; customers see what was agreed, auditors no prices."""
        if user.is_authenticated and user.is_auditor:
            return self.none()
        found = self.filter(in_engagements_of(user))
        return found.exclude(state=Agreement.State.DRAFT) if (
            user.is_authenticated and user.is_reviewer) else found


class Agreement(OptimisticLocked):
    """What an engagement's parties contracted, as one version.

    `values` of a version that was agreed are frozen: {name: {"value", "source"}}. Those of a draft
    are drawn from its sources whenever it is read (`queries.agreement_of`); `entered` holds what a
    person put in the place of a source.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        AGREED = "agreed", pgettext_lazy("an agreement", "Agreed")
        SUPERSEDED = "superseded", _("Superseded")

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="agreements")
    version = models.PositiveSmallIntegerField(_("version"), default=1)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.DRAFT)
    entered = models.JSONField(default=dict, blank=True)
    values = models.JSONField(default=dict, blank=True)
    basis = models.CharField(_("agreed by"), max_length=240, blank=True)  # document, change, quote
    agreed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    agreed_at = models.DateTimeField(null=True, blank=True)

    objects = AgreementQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "version"],
                                    name="agreement_version_unique"),
            models.UniqueConstraint(fields=["engagement"], condition=models.Q(state="draft"),
                                    name="one_draft_agreement"),
            models.UniqueConstraint(fields=["engagement"], condition=models.Q(state="agreed"),
                                    name="one_agreement_in_force"),
            models.CheckConstraint(condition=models.Q(state="draft") | (
                ~models.Q(basis="") & models.Q(agreed_at__isnull=False)),
                name="agreement_names_what_agreed_it"),
        ]

    def __str__(self) -> str:
        return _("Agreement V%(version)d") % {"version": self.version}

    @property
    def is_in_force(self) -> bool:
        return self.state == self.State.AGREED

    def value(self, name: str) -> Any:
        """What was agreed; None for what the agreement does not hold."""
        return self.values.get(name, {}).get("value")

    def source(self, name: str) -> dict[str, str]:
        """Where the value is from, in both languages; empty without one."""
        return self.values.get(name, {}).get("source", {})

    def differences(self, other: "Agreement") -> Iterator[str]:
        """Names of the facts that another version holds otherwise."""
        return (name for name in {**self.values, **other.values}
                if self.value(name) != other.value(name))
