"""The options of a cluster as fields of a node's form, one for each declared option."""

from django import forms

from workers.schedulers.options import OPTIONS, Option

PREFIX = "scheduler_"
NAMES = tuple(PREFIX + option.name for option in OPTIONS)


def _field(option: Option) -> forms.Field:
    shared = {"label": option.label, "help_text": option.help_text, "required": False,
              "initial": option.initial}
    if option.most is None:
        return forms.CharField(max_length=240, **shared)
    return forms.IntegerField(min_value=0, max_value=option.most, **shared)


class SchedulerFields(forms.Form):
    """For a form over a node, whose `scheduler_options` they are."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        stored = self.instance.scheduler_options
        for option in OPTIONS:
            self.fields[PREFIX + option.name] = _field(option)
            if option.name in stored:
                self.initial[PREFIX + option.name] = stored[option.name]

    def options(self) -> dict:
        """The options as the services take them; none for a node that is no cluster."""
        if not self.cleaned_data.get("scheduler"):
            return {}
        found = {option.name: self.cleaned_data.get(PREFIX + option.name) for option in OPTIONS}
        return {name: value for name, value in found.items() if value}
