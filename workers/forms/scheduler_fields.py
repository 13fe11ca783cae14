"""The options of a cluster as fields of a node's form, one for each declared option."""

from django import forms

from workers.schedulers import KINDS
from workers.schedulers.options import Option

PREFIX = "scheduler_"


OPTIONS: dict[str, Option] = {
    option.name: option for kind in KINDS.values() for option in kind.options}


def _groups_of(name: str) -> list[str]:
    return list({str(kind.group): None for kind in KINDS.values()
                 if name in [option.name for option in kind.options]})


# By group of the form: options that several kinds share, then those of each group.
SHARED = tuple(PREFIX + name for name in OPTIONS if len(_groups_of(name)) > 1)
OF_GROUPS = tuple(
    (group, tuple(PREFIX + name for name in OPTIONS if _groups_of(name) == [str(group)]))
    for group in {str(kind.group): kind.group for kind in KINDS.values()}.values())


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
