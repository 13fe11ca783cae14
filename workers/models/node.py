import shlex
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import (
    MaxLengthValidator,
    MaxValueValidator,
    MinValueValidator,
    RegexValidator,
)
from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Role
from workers.encrypted_field import EncryptedTextField


def require_words(text: str) -> None:
    """Raises ValidationError for what a shell would not split into words."""
    try:
        shlex.split(text)
    except ValueError:
        raise ValidationError(_("A quotation mark is not closed.")) from None


USERNAME = RegexValidator(r"^[A-Za-z_][A-Za-z0-9_.-]*$")


class Trouble(models.TextChoices):
    """Why a node cannot be asked about its jobs."""

    AWAY = "away", _("Does not answer")
    LOGIN = "login", _("Refuses the log-in")
    KEY = "key", _("Shows another host key")
    SHELL = "shell", _("Its log-in shell does not run commands")
    QUEUE = "queue", _("The cluster's scheduler does not answer")
    ALGORITHM = "algo", _("Has no SSH algorithm in common with us")
    CHANNEL = "channel", _("Opens no SSH session")
    TIMEOUT = "timeout", _("Does not end a command in time")


class SchedulerKind(models.TextChoices):
    """Who decides on a node when a job begins and which cards it gets."""

    OWN = "", _("The desk's own queue")
    SLURM = "slurm", "Slurm"
    KUBERNETES = "kubernetes", "Kubernetes"
    VOLCANO = "volcano", "Volcano (Kubernetes)"
    MODELARTS = "modelarts", "ModelArts"


LONGEST_SCHEDULER = 12  # of the column
REGISTERED_SCHEDULERS: dict[str, Promise | str] = {}  # of plug-ins: title by code


def scheduler_choices() -> list[tuple[str, Any]]:
    """(code, title) of all schedulers."""
    return [*SchedulerKind.choices, *REGISTERED_SCHEDULERS.items()]


# Each job of theirs is a container of its own, whose image a runtime may name.
MAKES_CONTAINERS = (SchedulerKind.KUBERNETES, SchedulerKind.VOLCANO, SchedulerKind.MODELARTS)


# Those that may queue jobs at all; which of them may type commands is said per node.
COMMAND_ROLES = (Role.ADMINISTRATOR, Role.MANAGER, Role.CONSULTANT, Role.OPERATOR)


def validate_command_roles(value) -> None:
    """Raises ValidationError unless it is a list of roles of COMMAND_ROLES, each once."""
    if not isinstance(value, list) or not set(value) <= set(COMMAND_ROLES) or (
            len(set(value)) < len(value)):
        raise ValidationError(_("Name roles that may queue jobs, each once."), "unknown_role")


def validate_roots(value: str) -> None:
    """Raises ValidationError unless every line is an absolute path without `..`."""
    for line in filter(None, map(str.strip, value.splitlines())):
        if not line.startswith("/") or ".." in line.split("/") or not line.isprintable():
            raise ValidationError(_("“%(line)s” is not a path starting with /."), "relative_path",
                                  {"line": line})


class NodeQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "NodeQuerySet":
        """Nodes belong to the firm: the firm's people see them, customers do not."""
        return self if allowed(user, Can.VIEW_INTERNAL) else self.none()

    def without_secrets(self) -> "NodeQuerySet":
        """For lists: no key is decrypted, and what a node offers stays where it is."""
        return self.defer("private_key", "passphrase", "scheduler_secret", "offers")


class Node(models.Model):
    """An NPU server reached over SSH, or a cluster whose log-in node is."""

    class State(models.TextChoices):
        PENDING = "pending", _("Host key to confirm")
        READY = "ready", _("Ready")
        UNTRIED = "untried", _("Not tried yet")
        MAINTENANCE = "maintenance", _("Maintenance")
        QUARANTINED = "quarantined", _("Host key changed")
        RETIRED = "retired", _("Retired")

    name = models.CharField(_("name"), max_length=60, unique=True)
    host = models.CharField(_("address"), max_length=253)
    port = models.PositiveIntegerField(
        _("port"), default=22, validators=[MinValueValidator(1), MaxValueValidator(65535)]
    )
    username = models.CharField(
        _("user"), max_length=60, validators=[USERNAME]
    )
    private_key = EncryptedTextField(_("private key"), blank=True)
    passphrase = EncryptedTextField(_("passphrase"), blank=True)
    certificate = models.TextField(
        _("certificate of the key"), blank=True, validators=[MaxLengthValidator(20_000)],
        help_text=_("Where the node trusts a certification authority (TrustedUserCAKeys): the "
                    "content of the file id_…-cert.pub beside the private key."))
    host_key = models.TextField(_("pinned host key"), blank=True)
    offered_host_key = models.TextField(_("offered host key"), blank=True)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.PENDING)
    is_practice = models.BooleanField(
        _("practice node"), default=False,
        help_text=_("Everything this node produces is marked as practice data."),
    )
    is_customers = models.BooleanField(
        _("customer's platform"), default=False,
        help_text=_("Belongs to the customer: what is measured here is measured on the customer's "
                    "platform, and documents say so in the table of environments."),
    )
    scratch_dir = models.CharField(
        _("scratch folder"), max_length=240, default="desk-jobs",
        validators=[RegexValidator(r"^[A-Za-z0-9_./~-]+$")],
    )
    set_env = models.CharField(
        _("environment script"), max_length=240, blank=True,
        validators=[RegexValidator(r"^[A-Za-z0-9_./-]*$")],
        help_text=_("For example /usr/local/Ascend/ascend-toolkit/set_env.sh"),
    )
    container_engine = models.CharField(
        _("container engine"), max_length=240, blank=True, validators=[require_words],
        help_text=_("With its own options, for example sudo -n docker. Empty: the first of docker, "
                    "podman and nerdctl that answers."))
    container_options = models.CharField(
        _("options for every new container"), max_length=400, blank=True,
        validators=[require_words],
        help_text=_("Of the engine's run, for example --ulimit nofile=65536:65536"))
    bastion_host = models.CharField(_("bastion address"), max_length=253, blank=True)
    bastion_port = models.PositiveIntegerField(_("bastion port"), default=22)
    bastion_username = models.CharField(_("bastion user"), max_length=60, blank=True,
                                        validators=[USERNAME])
    bastion_host_key = models.TextField(
        _("bastion host key"), blank=True,
        help_text=_("As the line of the bastion's ssh_host_ed25519_key.pub; it is pinned."))
    jump_hosts = models.TextField(
        _("jump hosts behind the bastion"), blank=True, validators=[MaxLengthValidator(20_000)],
        help_text=_("One per line, in order: user@host:port and the line of its "
                    "ssh_host_ed25519_key.pub. Each is opened with the node's key."))
    cluster_address = models.CharField(
        _("address for other nodes"), max_length=253, blank=True,
        help_text=_("Under which the other nodes of a job reach it. Empty: the address."))
    cluster_interface = models.CharField(
        _("network interface"), max_length=40, blank=True,
        validators=[RegexValidator(r"^[A-Za-z0-9_.:@-]*$")],
        help_text=_("Of that address, for HCCL and gloo. Empty: the node is asked."))
    labels = models.CharField(_("labels"), max_length=160, blank=True,
                              help_text=_("Separated by commas. Nodes that bear the same one are a "
                                          "group: lists, settings and maintenance choose by it."))
    ring_size = models.PositiveSmallIntegerField(
        _("cards per ring"), default=4, validators=[MinValueValidator(1), MaxValueValidator(64)],
        help_text=_("A job whose cards fit into one ring gets them from one ring."))
    keep_days = models.PositiveSmallIntegerField(
        _("days to keep job folders"), default=14,
        help_text=_("Counted from the end of a job whose files are stored and verified."))
    command_roles = models.JSONField(
        _("roles that may run free commands"), default=list, blank=True,
        validators=[validate_command_roles],
        help_text=_("None chosen: nobody may. Jobs of typed kinds are not affected."))
    file_roots = models.TextField(
        _("folders that may be browsed"), blank=True, validators=[validate_roots],
        help_text=_("One per line, from / on: data sets, weights, projects. People who queue jobs "
                    "can look into them, use what lies there as inputs of jobs on any node, and "
                    "download it. Links that lead out of them are not followed."))
    transfer_mbit = models.PositiveIntegerField(
        _("files at most (Mbit/s)"), default=0,
        help_text=_("For what is brought to the node before jobs start. 0: no limit."))
    temperature_limit = models.PositiveSmallIntegerField(
        _("alarm from (°C)"), null=True, blank=True,
        validators=[MinValueValidator(40), MaxValueValidator(120)],
        help_text=_("Of its cards. Empty: DESK_CARD_TEMPERATURE_LIMIT."))
    disk_warning_mb = models.PositiveIntegerField(
        _("warn below (MB free)"), null=True, blank=True,
        help_text=_("Of the disk of the scratch folder. Empty: DESK_DISK_WARNING_MB."))
    disk_stop_mb = models.PositiveIntegerField(
        _("start no job below (MB free)"), null=True, blank=True,
        help_text=_("Empty: DESK_DISK_STOP_MB."))
    cards_total = models.PositiveSmallIntegerField(
        _("cards"), null=True, blank=True, validators=[MaxValueValidator(64)],
        help_text=_("Empty: not known until npu-smi is read on the node."))
    scheduler = models.CharField(
        _("scheduler"), max_length=LONGEST_SCHEDULER, choices=scheduler_choices, blank=True,
        default=SchedulerKind.OWN,
        help_text=_("Of a cluster: it chooses nodes and cards. The address is that of a log-in "
                    "node, the scratch folder lies on storage that all nodes share."))
    scheduler_secret = EncryptedTextField(
        _("secret of the cluster"), blank=True,
        help_text=_("Kubernetes and Volcano: the token of a service account. ModelArts: the secret "
                    "access key (SK). It is stored encrypted and never shown again."))
    scheduler_options = models.JSONField(default=dict, blank=True)  # see workers.schedulers.options
    scheduler_facts = models.JSONField(default=dict, blank=True, editable=False)
    software = models.JSONField(default=dict, blank=True)
    # What a runtime could be made of, as the node last showed it: `workers.runtimes.offers`.
    offers = models.JSONField(default=dict, blank=True, editable=False)
    machine_id = models.CharField(max_length=64, blank=True, editable=False)
    boot_id = models.CharField(max_length=36, blank=True, editable=False)
    lease_counter = models.PositiveBigIntegerField(default=0, editable=False)
    scratch_used_mb = models.PositiveIntegerField(null=True, editable=False)
    scratch_free_mb = models.PositiveIntegerField(null=True, editable=False)
    disk_full_at = models.DateTimeField(null=True, editable=False)  # by `workers.nodes.disks`
    clock_offset_seconds = models.BigIntegerField(null=True, editable=False)
    unreachable_since = models.DateTimeField(null=True, editable=False)
    sampled_at = models.DateTimeField(null=True, editable=False)  # by `workers.nodes.samples`
    # That its sshd lets be open on one connection, if fewer than two.
    sessions_at_once = models.PositiveSmallIntegerField(null=True, editable=False)
    shell_seconds = models.FloatField(null=True, editable=False)  # until its shell runs a command
    trouble = models.CharField(max_length=8, choices=Trouble, blank=True, editable=False)
    maintenance_since = models.DateTimeField(null=True, editable=False)  # of one without an end
    last_seen_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=400, blank=True)

    objects = NodeQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["state", "id"], name="nodes_by_state")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ready(self) -> bool:
        """Whether a job could be started on it now."""
        return (self.state == self.State.READY and self.unreachable_since is None
                and not self.is_full)

    @property
    def disk_limits(self) -> tuple[int, int]:
        """Megabytes free below which it warns, and below which no job starts."""
        stop = settings.DISK_STOP_MB if self.disk_stop_mb is None else self.disk_stop_mb
        warning = (settings.DISK_WARNING_MB if self.disk_warning_mb is None
                   else self.disk_warning_mb)
        return max(warning, stop), stop

    @property
    def is_full(self) -> bool:
        """Whether its disk, as last seen, has too little room for a job to start."""
        return self.scratch_free_mb is not None and self.scratch_free_mb < self.disk_limits[1]

    @property
    def roots(self) -> list[str]:
        """The folders that may be browsed."""
        return [line.strip() for line in self.file_roots.splitlines() if line.strip()]

    @property
    def makes_containers(self) -> bool:
        """Whether its scheduler starts each job in a container of its own."""
        return self.scheduler in MAKES_CONTAINERS

    @property
    def has_read_cards(self) -> bool:
        """Whether npu-smi has shown the cards; else their number is what somebody typed in."""
        return bool(self.cards.all())

    @property
    def bastion_login(self) -> "Node":
        """Whose user and key open the bastion."""
        return self


class NodeContact(models.Model):
    """A change of a node's reachability: what it became, when, and why."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="contacts")
    is_reachable = models.BooleanField()
    trouble = models.CharField(max_length=8, choices=Trouble, blank=True)
    cause = models.CharField(max_length=400, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]


GOOD_HEALTH = ("OK", "Normal", "UNKNOWN", "")


class CardManager(models.Manager):
    """Each card says whether an alarm of it is open (`has_alarm`)."""

    def get_queryset(self) -> models.QuerySet:
        alarms = apps.get_model("workers", "CardAlarm").objects.filter(
            node=models.OuterRef("node"), card_index=models.OuterRef("index"), cleared_at=None)
        return super().get_queryset().annotate(has_alarm=models.Exists(alarms))


class Card(models.Model):
    """One NPU chip of a node, as `npu-smi info` last showed it."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="cards")
    index = models.PositiveSmallIntegerField(_("card"))
    npu_id = models.PositiveIntegerField(_("NPU id"), default=0)
    chip_name = models.CharField(_("chip"), max_length=40, blank=True)
    health = models.CharField(_("health"), max_length=20, blank=True)
    temperature_c = models.FloatField(_("temperature (°C)"), null=True)
    power_w = models.FloatField(_("power (W)"), null=True)
    memory_used_mb = models.PositiveIntegerField(_("memory used (MB)"), null=True)
    memory_total_mb = models.PositiveIntegerField(_("memory (MB)"), null=True)
    ecc_errors = models.PositiveBigIntegerField(_("memory errors that could not be corrected"),
                                                null=True)
    read_at = models.DateTimeField()

    objects = CardManager()

    class Meta:
        ordering = ["node", "index"]
        constraints = [
            models.UniqueConstraint(fields=["node", "index"], name="one_row_per_card")
        ]

    @property
    def is_healthy(self) -> bool:
        return self.health in GOOD_HEALTH

    @property
    def is_usable(self) -> bool:
        """Whether a job may be given it."""
        return self.is_healthy and not self.has_alarm
