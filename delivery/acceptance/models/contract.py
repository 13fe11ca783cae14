from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.review import Review
from engagements.models import Engagement


class AcceptanceTerms(models.Model):
    """What the contract says of acceptance: phases, periods, and what silence means."""

    engagement = models.OneToOneField(Engagement, models.CASCADE,
                                      related_name="acceptance_terms")
    has_preliminary = models.BooleanField(
        _("preliminary acceptance, trial period, then final acceptance"), default=False)
    trial_days = models.PositiveSmallIntegerField(_("trial period (days)"), default=0)
    review_days = models.PositiveSmallIntegerField(_("review period (days)"), null=True,
                                                   blank=True)
    is_deemed = models.BooleanField(
        _("the contract says that silence until the deadline counts as acceptance"),
        default=False)
    clause = models.CharField(_("clause of the contract"), max_length=200, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(is_deemed=False)
                | (~models.Q(clause="") & models.Q(review_days__gte=1)),
                name="deemed_acceptance_names_clause_and_period"),
        ]


class NoticeProof(models.Model):
    """Proof that the customer was given notice that the document awaits review."""

    class Channel(models.TextChoices):
        EMAIL = "email", _("e-mail with confirmation of receipt")
        COURIER = "courier", _("courier with receipt")
        REGISTERED = "registered", _("registered post")
        HAND = "hand", _("by hand against signature")

    review = models.ForeignKey(Review, models.PROTECT, related_name="notice_proofs")
    channel = models.CharField(_("how it was delivered"), max_length=12, choices=Channel)
    addressee = models.CharField(_("addressee"), max_length=120)
    reference = models.CharField(_("receipt or tracking number"), max_length=120)
    delivered_on = models.DateField(_("delivered on"))
    file = models.FileField(upload_to="notices/%Y/%m", max_length=300, blank=True)
    file_name = models.CharField(max_length=160, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["delivered_on", "pk"]
