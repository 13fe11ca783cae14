"""Forms: enrolment of nodes, uploads, and job forms built from a kind's declaration."""

from collections.abc import Iterable

from django import forms
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.errors import InvalidInput
from engagements.models import Engagement
from engagements.web.suggest_field import SuggestField
from workers import rule_checks
from workers.dispatch.disks import Rule
from workers.forms.declared_bounds import bounded
from workers.forms.node_fieldsets import InGroups, command_roles_field, transfer_field
from workers.forms.scheduler_fields import SchedulerFields
from workers.forms.words_field import OurWidget, WordsField
from workers.jobs.form_defaults import defaults_for
from workers.kinds import JobKind, Parameter
from workers.labels.value_format import word
from workers.models import Artifact, Node, Priority, Purpose, Runtime
from workers.models.gang import MOST_RESTARTS
from workers.models.node import USERNAME
from workers.rule_checks import AS_IT_IS
from workers.runtimes import chosen

KEY_HELP = _("OpenSSH or PEM. It is stored encrypted and never shown again. Without one, "
             "the SSH agent of the worker is asked.")
NEW_KEY_HELP = _("Empty: the stored key stays as it is. It is never shown.")


def _key_field(help_text) -> forms.CharField:
    return forms.CharField(label=_("Private key"), required=False, help_text=help_text,
                           widget=forms.Textarea(attrs={"rows": 6, "autocomplete": "off"}))


def _passphrase_field() -> forms.CharField:
    return forms.CharField(label=_("Passphrase"), required=False,
                           widget=forms.PasswordInput(attrs={"autocomplete": "off"}))


# A public key is one long line.
ONE_LINE = dict.fromkeys(("bastion_host_key", "certificate", "jump_hosts", "file_roots"),
                         forms.Textarea(attrs={"rows": 2}))


class NodeForm(InGroups, SchedulerFields, forms.ModelForm):
    unfolded = ("private_key",)
    private_key, passphrase = _key_field(KEY_HELP), _passphrase_field()
    command_roles, transfer_mbit = command_roles_field(), transfer_field()

    class Meta:
        model, formfield_callback = Node, bounded
        fields = ["name", "host", "port", "username", "private_key", "passphrase", "certificate",
                  "cluster_address", "cluster_interface", "labels",
                  "cards_total", "temperature_limit", "ring_size", "scratch_dir", "keep_days",
                  "disk_warning_mb", "disk_stop_mb", "set_env", "container_engine",
                  "container_options", "command_roles", "file_roots", "transfer_mbit",
                  "bastion_host", "bastion_port", "bastion_username", "bastion_host_key",
                  "jump_hosts", "is_practice", "is_customers", "scheduler"]
        widgets = ONE_LINE

    def arguments(self) -> dict:
        """The service's arguments."""
        own = {name: self.cleaned_data[name] for name in self.Meta.fields}
        return {**own, **self.scheduler_arguments()}


class _NewKey(forms.Form):
    """Fields that replace a stored key, or give it up for the agent."""

    new_key, passphrase = _key_field(NEW_KEY_HELP), _passphrase_field()
    use_agent = forms.BooleanField(
        label=_("Erase the stored key and ask the worker's SSH agent"), required=False)

    def key_changes(self) -> dict:
        """The services' arguments; none where the key stays."""
        data = self.cleaned_data
        if data.get("use_agent"):
            return {"private_key": "", "passphrase": ""}
        if data.get("new_key"):
            return {"private_key": data["new_key"], "passphrase": data.get("passphrase", "")}
        return {}


class NodeEditForm(InGroups, SchedulerFields, _NewKey, forms.ModelForm):
    """Another address, port or bastion leads to a new confirmation of the host key."""

    command_roles, transfer_mbit = command_roles_field(), transfer_field()

    class Meta:
        model, formfield_callback = Node, bounded
        fields = ["name", "host", "port", "username", "cluster_address",
                  "cluster_interface", "labels", "cards_total", "temperature_limit", "ring_size",
                  "scratch_dir", "keep_days", "disk_warning_mb", "disk_stop_mb", "set_env",
                  "container_engine",
                  "container_options", "command_roles", "file_roots", "transfer_mbit",
                  "bastion_host", "bastion_port",
                  "bastion_username", "bastion_host_key", "jump_hosts", "certificate",
                  "is_customers", "scheduler"]
        widgets = ONE_LINE

    def changes(self) -> dict:
        """What the service is asked to change."""
        own = {name: self.cleaned_data[name] for name in self.Meta.fields}
        return {**own, **self.scheduler_arguments(), **self.key_changes()}


class LoginForm(_NewKey):
    """The user and key of one engagement at a node; for a `login` given, their change."""

    engagement = SuggestField(Engagement.objects.none(), label=_("Engagement"),
                              to_field_name="code")
    username = forms.CharField(label=_("User"), max_length=60, validators=[USERNAME])
    certificate = forms.CharField(
        label=_("certificate of the key"), required=False, max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off"}))
    field_order = ["engagement", "username"]

    def __init__(self, *args, user, node, login=None, **kwargs):
        super().__init__(*args, **kwargs)
        if login:
            del self.fields["engagement"]
            return
        del self.fields["use_agent"]
        self.fields["new_key"].help_text = KEY_HELP
        taken = node.logins.in_use().values("engagement")
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user).exclude(
            pk__in=taken)

    def clean(self):
        """For a new log-in the data are the service's arguments."""
        data = super().clean()
        if "engagement" in self.fields and not self.errors:
            data["private_key"] = data.pop("new_key")
        return data

    def changes(self) -> dict:
        """What the service is asked to change."""
        return {"username": self.cleaned_data["username"],
                "certificate": self.cleaned_data["certificate"], **self.key_changes()}


class CleanUpForm(forms.Form):
    """Which folders of ended jobs may go."""

    days = forms.IntegerField(label=_("Days since the end, at least"), min_value=0, max_value=3650)
    only_succeeded = forms.BooleanField(label=_("Only jobs that succeeded"), required=False)

    def __init__(self, *args, node, **kwargs):
        super().__init__(*args, initial={"days": node.keep_days}, **kwargs)

    def rule(self) -> Rule:
        return Rule(**self.cleaned_data)


class UploadForm(forms.Form):
    upload = forms.FileField(label=_("File"))
    note = forms.CharField(label=_("Note"), max_length=240, required=False)


class ArtifactForm(UploadForm):
    """A file, and what the run was for that made it."""

    purpose = forms.ChoiceField(
        label=_("Purpose of the run"), required=False,
        choices=[("", _("not the output of a run")), *Purpose.choices], help_text=_(
            "Of a file that a job of the desk made, what was declared for that job counts."))


class PurposeForm(forms.Form):
    purpose = forms.ChoiceField(label=_("Purpose of the run"), choices=Purpose.choices)
    reason = forms.CharField(label=_("Reason"), max_length=240)


class ScanForm(UploadForm):
    """A source archive and the model it belongs to."""

    model = forms.ModelChoiceField(None, label=_("Model"), required=False,
                                   empty_label=_("the whole engagement"))
    field_order = ("model", "upload", "note")

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.current()


FIELDS = {
    "integer": forms.IntegerField, "number": forms.FloatField, "flag": forms.BooleanField,
    "choice": forms.ChoiceField, "words": WordsField,
}
PATTERNS = ("collect", "logs")  # lists of file patterns, which need no lesson on quotes
SCRIPT = forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "font-monospace"})


# Fields of every kind that are seldom changed.
GENERAL = ("more_nodes", "restarts", "runtime", "priority", "priority_reason", "purpose")


class JobForm(forms.Form):
    """The node, then the kind's own parameters; other models for which the same is to run."""

    def __init__(self, *args, kind: JobKind, user, engagement, migrated=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.kind, self.engagement, self.migrated = kind, engagement, migrated
        self.defaults = defaults_for(kind, migrated)
        self.always_shown = {p.name for p in kind.parameters if p.is_always_shown}
        if kind.runs_on_node:
            ready = Node.objects.visible_to(user).filter(state=Node.State.READY)
            self.fields["node"] = forms.ModelChoiceField(
                ready, label=_("Node"), initial=ready.first(), empty_label=None)
            if kind.spans_nodes:
                self.fields |= _several_nodes(ready)
            self.fields["runtime"] = forms.ModelChoiceField(
                Runtime.objects.visible_to(user).in_use(), label=_("Runtime"), required=False,
                empty_label=_("as chosen for the model, the engagement or the node"))
            self.fields |= _priority(is_urgent_allowed=allowed(user, Can.OPERATE)
                                     or allowed(user, Can.MANAGE))
        if kind.needs_model:
            self.fields["purpose"] = forms.ChoiceField(
                label=_("Purpose of the run"), required=False,
                choices=[("", _("as its stage says")), *Purpose.choices], help_text=_(
                    "Which platform its figures tell of, and what for; kept with them."))
        for parameter in kind.parameters:
            field = self.fields[parameter.name] = _field(parameter, engagement)
            if parameter.name in self.defaults:
                field.initial = self.defaults[parameter.name]
                origin = _("Preset from the survey.")
                field.help_text = f"{field.help_text} {origin}".strip()
        others = engagement.models.current().exclude(pk=migrated.pk) if migrated else ()
        if others:
            self.fields["also"] = forms.ModelMultipleChoiceField(
                others, label=_("Also for these models"), required=False,
                widget=forms.CheckboxSelectMultiple, help_text=_(
                    "Each gets a job of its own: with what its survey says where this form holds "
                    "what the survey of this model says, else with the same values."))

    def clean(self) -> dict:
        data = super().clean()
        if int(data.get("priority") or 0) > Priority.NORMAL and not data.get("priority_reason"):
            self.add_error("priority_reason", _("Give the reason why the job is urgent."))
        return data

    def unfolded(self) -> list[forms.BoundField]:
        """What everybody looks at, and what holds an error."""
        return [self[name] for name in self.fields if not self._is_folded(name)]

    def folded(self) -> list[forms.BoundField]:
        """What is seldom changed: general choices, and parameters that may stay empty."""
        return [self[name] for name in self.fields if self._is_folded(name)]

    def _is_folded(self, name: str) -> bool:
        if name in self.errors or name == "also" or name in self.always_shown:
            return False
        value = self[name].value()
        if name in GENERAL:
            return not value or str(value) == str(self.fields[name].initial)
        return not self.fields[name].required and value in (None, "", [])

    def preflight_hits(self) -> list:
        """Hits of the rules over the values with which the form begins; none while they are not
        complete."""
        given = {p.name: self.initial.get(p.name, self.defaults.get(p.name, p.default))
                 for p in self.kind.parameters}
        node = self._first_node() if "node" in self.fields else None
        runtime = chosen.for_job(node, self.engagement, self.migrated) if node else AS_IT_IS
        try:
            values = self.kind.clean({name: _plain(value) for name, value in given.items()})
        except InvalidInput:
            return []
        return rule_checks.outcome_for(self.kind, values, node, self.migrated, runtime=runtime).hits

    def mark(self, errors: Iterable[tuple[str, str]]) -> None:
        """Each sentence at its field; at the form where it names none."""
        for name, sentence in errors:
            self.add_error(name if name in self.fields else None, sentence)

    def _first_node(self) -> Node | None:
        """The node that the form offers before anything is chosen."""
        field = self.fields["node"]
        return field.queryset.filter(pk=self.initial.get("node")).first() or field.initial

    def nodes(self) -> list[Node]:
        """All chosen ones, the first where ranks meet before the others; empty for one alone."""
        node, more = self.cleaned_data.get("node"), self.cleaned_data.get("more_nodes") or ()
        return [node, *(each for each in more if each != node)] if more else []

    def parameters(self) -> dict:
        """The cleaned values of the kind's parameters."""
        return {p.name: _plain(self.cleaned_data.get(p.name)) for p in self.kind.parameters}


def _priority(*, is_urgent_allowed: bool) -> dict[str, forms.Field]:
    """Whose turn it is for cards; urgent, with a reason, for those with the right."""
    own = forms.ChoiceField(
        choices=[each for each in Priority.choices
                 if is_urgent_allowed or each[0] <= Priority.NORMAL],
        label=_("Priority"), initial=Priority.NORMAL, required=False, help_text=_(
            "Whose turn it is for cards. An operator makes a waiting job urgent on its "
            "page, with a reason."))
    if not is_urgent_allowed:
        return {"priority": own}
    own.help_text = _("Whose turn it is for cards. An urgent job needs a reason.")
    return {"priority": own, "priority_reason": forms.CharField(
        label=_("Reason for urgent"), required=False, max_length=160)}


def _several_nodes(ready) -> dict[str, forms.Field]:
    """Fields of a kind that one job can run on several nodes."""
    return {
        "more_nodes": forms.ModelMultipleChoiceField(
            ready, label=_("Further nodes"), required=False,
            widget=forms.SelectMultiple(attrs={"size": 4}), help_text=_(
                "They run the job together, each with as many cards, and start once cards are "
                "free on all of them at once. Ranks meet on the first node.")),
        "restarts": forms.IntegerField(
            label=_("Restarts"), required=False, initial=0, min_value=0, max_value=MOST_RESTARTS,
            help_text=_("How often all nodes begin again after a failure; 0: never. Only for "
                        "several nodes.")),
    }


def _plain(value):
    return value.pk if isinstance(value, Artifact) else value


def _field(parameter: Parameter, engagement) -> forms.Field:
    label = f"{parameter.label} ({word(parameter.unit)})" if parameter.unit else parameter.label
    common = {"label": label, "required": parameter.is_required and parameter.type != "flag",
              "initial": parameter.default, "help_text": parameter.help}
    if parameter.type == "artifact":
        files = Artifact.objects.filter(engagement=engagement).exclude(readings=None)
        return _ArtifactField(files.select_related("job").distinct().order_by("-pk"), **common)
    if parameter.type == "choice":
        nothing = [] if common["required"] or parameter.default else [("", "–")]
        named = [(choice, parameter.shown(choice)) for choice in parameter.choices]
        return forms.ChoiceField(choices=[*nothing, *named], **common)
    if parameter.type in ("integer", "number"):
        return FIELDS[parameter.type](min_value=parameter.minimum, max_value=parameter.maximum,
                                      **common)
    special = {"words": {"explains": parameter.name not in PATTERNS},
               "path": {"widget": _PathInput(engagement)},
               "script": {"widget": SCRIPT, "strip": False}}
    return FIELDS.get(parameter.type, forms.CharField)(**common, **special.get(parameter.type, {}))


class _PathInput(OurWidget, forms.TextInput):
    """For a path of the node, or a stored file or folder that is to be brought there.

    Args:
        engagement: whose files are offered; None for the firm's own.
    """

    template_name = "workers/path_input.html"

    def __init__(self, engagement=None) -> None:
        super().__init__(attrs={"spellcheck": "false", "autocomplete": "off"})
        self.engagement = engagement

    def get_context(self, name, value, attrs) -> dict:
        context = super().get_context(name, value, attrs)
        return {**context, "engagement": self.engagement}


class _ArtifactField(forms.ModelChoiceField):
    def label_from_instance(self, artifact: Artifact) -> str:
        job = f" · #{artifact.job_id} {artifact.job.kind}" if artifact.job else ""
        return f"{artifact.pk}: {artifact.name}{job}"
