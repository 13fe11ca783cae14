from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of
from workers.encrypted_field import EncryptedTextField
from workers.models.node import USERNAME, Node


class NodeLoginQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "NodeLoginQuerySet":
        """Log-ins of visible engagements, for the firm's people."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        return self.filter(in_engagements_of(user))

    def in_use(self) -> "NodeLoginQuerySet":
        return self.filter(withdrawn_at=None)

    def of_new_jobs(self, node: Node, engagement: Engagement | None) -> "NodeLogin | None":
        """What new jobs of the engagement use on the node; None means the node's own.

        Locks it against its withdrawal until the transaction ends.
        """
        if engagement is None:
            return None
        logins = self.in_use().select_for_update(of=("self",), no_key=True)
        return logins.filter(node=node, engagement=engagement).first()


class NodeLogin(models.Model):
    """The user and key with which the jobs of one engagement log in to a shared node.

    It has the attributes that `workers.nodes.ssh` asks of a node; the way there is the node's own.
    """

    node = models.ForeignKey(Node, models.CASCADE, related_name="logins")
    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="node_logins",
                                   verbose_name=_("engagement"))
    username = models.CharField(_("user"), max_length=60, validators=[USERNAME])
    private_key = EncryptedTextField(_("private key"), blank=True)
    passphrase = EncryptedTextField(_("passphrase"), blank=True)
    certificate = models.TextField(_("certificate of the key"), blank=True,
                                   validators=[MaxLengthValidator(20_000)])
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)
    refused_at = models.DateTimeField(null=True, editable=False)
    refused_cause = models.CharField(max_length=400, blank=True, editable=False)

    objects = NodeLoginQuerySet.as_manager()

    class Meta:
        ordering = ["node", "engagement"]
        constraints = [
            models.UniqueConstraint(fields=["node", "engagement"], name="one_login_per_engagement",
                                    condition=models.Q(withdrawn_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.username}@{self.node} · {self.engagement.code}"

    @property
    def host(self) -> str:
        return self.node.host

    @property
    def port(self) -> int:
        return self.node.port

    @property
    def host_key(self) -> str:
        return self.node.host_key

    @property
    def bastion_host(self) -> str:
        return self.node.bastion_host

    @property
    def bastion_port(self) -> int:
        return self.node.bastion_port

    @property
    def bastion_login(self) -> Node:
        """The bastion belongs to the node, and so does the log-in there."""
        return self.node
