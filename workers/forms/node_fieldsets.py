"""The fields of a node in groups; what is seldom set is folded at first."""

from django import forms
from django.utils.translation import gettext_lazy as _

from workers.forms import scheduler_fields
from workers.models.node import COMMAND_ROLES, Node
from workers.schedulers import KINDS

GROUPS = (
    (_("Connection"), True, ("name", "host", "port", "username", "labels", "is_practice",
                             "is_customers")),
    (_("Key of the log-in"), False, (
        "private_key", "new_key", "passphrase", "certificate", "use_agent")),
    (_("Cards and job folders"), True, (
        "cards_total", "temperature_limit", "ring_size", "scratch_dir", "keep_days",
        "disk_warning_mb", "disk_stop_mb", "set_env")),
    (_("Containers"), False, ("container_engine", "container_options")),
    (_("Free commands and files"), False, ("command_roles", "file_roots", "transfer_mbit")),
    (_("Cluster"), False, ("scheduler", "scheduler_secret", *scheduler_fields.SHARED)),
    *((group, False, names) for group, names in scheduler_fields.OF_GROUPS),
    (_("Network of jobs on several nodes"), False, ("cluster_address", "cluster_interface")),
    (_("Bastion"), False, (
        "bastion_host", "bastion_port", "bastion_username", "bastion_host_key", "jump_hosts")),
)


def command_roles_field() -> forms.MultipleChoiceField:
    """The roles that may run free commands on the node."""
    column = Node._meta.get_field("command_roles")
    return forms.MultipleChoiceField(
        label=column.verbose_name, help_text=column.help_text, required=False,
        choices=[(role.value, role.label) for role in COMMAND_ROLES],
        widget=forms.CheckboxSelectMultiple)


def transfer_field() -> forms.IntegerField:
    """The limit of what is brought to the node; nothing entered means no limit."""
    column = Node._meta.get_field("transfer_mbit")
    return forms.IntegerField(label=column.verbose_name, help_text=column.help_text,
                              required=False, min_value=0, initial=0)


class InGroups:
    """For a form over a node; `unfolded` names fields whose groups are open from the start."""

    wide = ("private_key", "new_key", "use_agent", "set_env", "bastion_host_key", "jump_hosts",
            "certificate", "is_practice", "is_customers", "command_roles", "file_roots",
            "container_engine", "container_options", "scheduler_authority", "scheduler_volumes")
    unfolded: tuple[str, ...] = ()

    def clean_transfer_mbit(self) -> int:
        return self.cleaned_data["transfer_mbit"] or 0

    def groups(self) -> list[dict]:
        """Title, fields, and whether it is open: by its kind, when it is filled, or for errors."""
        return [{"title": title, "is_open": is_open or self._is_wanted(names),
                 "fields": [self[name] for name in names if name in self.fields]}
                for title, is_open, names in GROUPS if names]

    def _is_wanted(self, names: tuple[str, ...]) -> bool:
        if "bastion_host" in names and self["bastion_host"].value():
            return True
        if "command_roles" in names and (
                self["command_roles"].value() or self["file_roots"].value()):
            return True
        if self._is_of_cluster(names):
            return True
        if "container_engine" in names and any(self[name].value() for name in names):
            return True
        return any(name in self.unfolded or name in self.errors for name in names)

    def _is_of_cluster(self, names: tuple[str, ...]) -> bool:
        """Whether the group is for clusters in general, or for the chosen kind."""
        kind = self["scheduler"].value()
        of_kind = {scheduler_fields.PREFIX + option.name for option in KINDS[kind].options} \
            if kind in KINDS else set()
        return bool(kind) and ("scheduler" in names or bool(of_kind & set(names)))
