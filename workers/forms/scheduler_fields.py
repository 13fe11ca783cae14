"""The options of a cluster as fields of a node's form, one for each declared option."""

from collections.abc import Iterable

from django import forms

from workers.models import SchedulerKind
from workers.schedulers import KINDS
from workers.schedulers.options import Option

PREFIX = "scheduler_"


def _of(kinds: Iterable[str]) -> dict[str, Option]:
    return {option.name: option for kind in kinds for option in KINDS[kind].options}


OPTIONS = _of(KINDS)
_SLURM = _of([SchedulerKind.SLURM])
_PODS = _of([SchedulerKind.KUBERNETES, SchedulerKind.VOLCANO])
_MODELARTS = _of(kind for kind in KINDS if kind == SchedulerKind.MODELARTS)


def _names(options: dict[str, Option], *others: dict[str, Option]) -> tuple[str, ...]:
    return tuple(PREFIX + name for name in options if not any(name in each for each in others))


# By group of the form: options that several kinds share, then those of each kind.
SHARED = tuple(name for name in _names(OPTIONS) if sum(
    name in _names(each) for each in (_SLURM, _PODS, _MODELARTS)) > 1)
OF_SLURM = _names(_SLURM, _PODS, _MODELARTS)
OF_PODS = _names(_PODS, _SLURM, _MODELARTS)
OF_MODELARTS = _names(_MODELARTS, _SLURM, _PODS)


def _field(option: Option) -> forms.Field:
    shared = {"label": option.label, "help_text": option.help_text, "required": False,
              "initial": option.initial}
    if option.most is not None:
        return forms.IntegerField(min_value=0, max_value=option.most, **shared)
    if option.rows > 1:
        return forms.CharField(max_length=20_000, widget=forms.Textarea(
            attrs={"rows": option.rows}), **shared)
    return forms.CharField(max_length=1000, **shared)


class SchedulerFields(forms.Form):
    """For a form over a node, whose `scheduler_options` they are."""

    scheduler_secret = forms.CharField(
        required=False, strip=True, max_length=20_000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}))

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        stored = self.instance.scheduler_options
        secret = type(self.instance)._meta.get_field("scheduler_secret")
        self.fields["scheduler_secret"].label = secret.verbose_name
        self.fields["scheduler_secret"].help_text = secret.help_text
        for option in OPTIONS.values():
            self.fields[PREFIX + option.name] = _field(option)
            if option.name in stored:
                self.initial[PREFIX + option.name] = stored[option.name]

    def scheduler_arguments(self) -> dict:
        """The services' arguments: the options of the chosen kind, and a secret that is new."""
        kind = self.cleaned_data.get("scheduler") or ""
        found = {option.name: self.cleaned_data.get(PREFIX + option.name)
                 for option in KINDS[kind].options}
        secret = self.cleaned_data.get("scheduler_secret")
        return {"scheduler_options": {name: value for name, value in found.items() if value},
                **({"scheduler_secret": secret} if secret else {})}
