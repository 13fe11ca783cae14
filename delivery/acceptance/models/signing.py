from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models.contract_terms import PowerOfAttorney
from delivery.acceptance.models.review import Review
from delivery.reports.models import DocumentFile
from engagements.audit_rows.tracking import AuditedQuerySet


class Signer(models.Model):
    """A person in the signing order of a review."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Not signed yet")
        SIGNED = "signed", _("Signed")
        DECLINED = "declined", _("Declined")

    review = models.ForeignKey(Review, models.CASCADE, related_name="signers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()
    capacity = models.CharField(_("capacity"), max_length=80, blank=True)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.WAITING)
    reason = models.CharField(_("reason"), max_length=400, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["review", "user"], name="asked_once_each"),
            models.UniqueConstraint(fields=["review", "position"], name="one_signer_per_turn"),
            models.CheckConstraint(
                condition=~models.Q(state="declined") | ~models.Q(reason=""),
                name="declined_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.position}. {self.user}"


class Identification(models.Model):
    """A person about to sign: the terms accepted, and the one-time code that was sent or that an
    authenticator app shows, or the challenge for a passkey.

    Only a sent code's keyed hash is stored; of a passkey its answer, which anybody can check.
    `statement` is what the person was shown and asked to sign, with its hash
    (`services.identification`).
    """

    class Way(models.TextChoices):
        MAIL = "mail", _("one-time code by e-mail")
        APP = "app", _("code of the authenticator app")
        PASSKEY = "passkey", _("passkey")

    review = models.ForeignKey(Review, models.CASCADE, related_name="identifications")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    name = models.CharField(_("name"), max_length=80)
    capacity = models.CharField(_("capacity"), max_length=80)
    terms_version = models.CharField(max_length=12)
    terms_hash = models.CharField(max_length=64)
    statement = models.JSONField(default=dict, blank=True)
    statement_hash = models.CharField(max_length=64, blank=True)
    way = models.CharField(_("way"), max_length=8, choices=Way, default=Way.MAIL)
    sent_to = models.CharField(max_length=80, blank=True)  # masked; empty where nothing is sent
    salt = models.CharField(max_length=32, blank=True)
    code_hash = models.CharField(max_length=64, blank=True)
    proof = models.JSONField(default=dict, blank=True)  # `delivery.sign_on.passkeys.proof_of`
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    ip_address = models.GenericIPAddressField(null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["review", "user", "sent_at"], name="codes_of_a_signer")]


class Signature(models.Model):
    """A signature: person, signed hash and files, time, origin, identification."""

    class Mark(models.TextChoices):
        TYPED = "typed", _("typed name")
        DRAWN = "drawn", _("drawn signature")
        SCAN = "scan", _("scan of the signed and sealed paper")

    review = models.ForeignKey(Review, models.PROTECT, related_name="signatures")
    signer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    identification = models.OneToOneField(Identification, models.PROTECT,
                                          related_name="signature")
    name = models.CharField(_("name"), max_length=80)
    capacity = models.CharField(_("capacity"), max_length=80)
    power = models.ForeignKey(PowerOfAttorney, models.PROTECT, null=True, blank=True,
                              related_name="signatures")
    signed_hash = models.CharField(max_length=64)
    file_hashes = models.JSONField(default=dict)  # SHA-256 of the issued files, by language
    mark = models.CharField(_("form"), max_length=8, choices=Mark, default=Mark.TYPED)
    strokes = models.JSONField(default=list, blank=True)  # lines of [x, y], 0 to 1000 by 300
    scan = models.FileField(upload_to="signatures/%Y/%m", max_length=300, blank=True)
    scan_name = models.CharField(max_length=160, blank=True)
    scan_size = models.PositiveBigIntegerField(default=0)
    scan_sha256 = models.CharField(max_length=64, blank=True)
    ip_address = models.GenericIPAddressField(null=True, blank=True)
    user_agent = models.CharField(max_length=240, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["at"]
        constraints = [
            models.UniqueConstraint(fields=["review", "signer"], name="sign_once_each"),
            models.CheckConstraint(condition=~models.Q(mark="scan") | ~models.Q(scan_sha256=""),
                                   name="scan_has_checksum"),
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.capacity}"


class Seal(models.Model):
    """The firm's seal on a stored file, as it was checked before the file was kept."""

    file = models.OneToOneField(DocumentFile, models.CASCADE, related_name="seal")
    subject = models.CharField(max_length=240)
    fingerprint = models.CharField(max_length=64)
    is_practice = models.BooleanField(default=False)
    stamped_at = models.DateTimeField(null=True, blank=True)
    authority = models.CharField(max_length=240, blank=True)
    level = models.CharField(max_length=4)  # B-B, B-T or B-LT of ETSI EN 319 142-1
    at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()
