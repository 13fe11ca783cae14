"""Forms of runtimes: one field for each declared option, and who gets which runtime."""

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement, MigratedModel
from workers.models import Node, Runtime
from workers.runtimes import offers, options
from workers.runtimes.options import Option


class OfferingInput(forms.TextInput):
    """A line with a list of what nodes have, from which one may be taken."""

    def __init__(self, offered: list[str]) -> None:
        super().__init__()
        self.offered = offered

    def render(self, name, value, attrs=None, renderer=None):
        number = f"{name}-offered"
        line = super().render(name, value, {**(attrs or {}), "list": number}, renderer)
        choices = format_html_join("", '<option value="{}"></option>',
                                   ((each,) for each in self.offered))
        return format_html('{}<datalist id="{}">{}</datalist>', line, number, choices)


def _field(option: Option, nodes: list[Node]) -> forms.Field:
    """As plain text: the option's own check says what is wrong with it."""
    shared = {"label": option.label, "help_text": option.help_text, "required": False}
    if option.choices:
        return forms.ChoiceField(choices=option.choices, **shared)
    offered = offers.for_option(nodes, option.name)
    if option.rows > 1:
        if offered:
            shared["help_text"] = format_html(
                "{} {} <code>{}</code>", option.help_text, _("Found on nodes:"),
                " · ".join(offered))
        return forms.CharField(widget=forms.Textarea(attrs={"rows": option.rows}), **shared)
    return forms.CharField(widget=OfferingInput(offered) if offered else None, **shared)


class RuntimeForm(forms.Form):
    """A runtime of one place; for a `runtime` given, its change."""

    name = forms.CharField(label=_("Name"), max_length=80)

    def __init__(self, *args, user, place: str, runtime: Runtime | None = None, **kwargs):
        super().__init__(*args, **kwargs)
        self.place, nodes = place, list(Node.objects.visible_to(user))
        if runtime:
            self.initial["name"] = runtime.name
        for option in options.for_place(place):
            self.fields[option.name] = _field(option, nodes)
            if runtime and option.name in runtime.options:
                self.initial[option.name] = option.shown(runtime.options[option.name])

    def arguments(self) -> dict:
        """The service's arguments."""
        given = {option.name: self.cleaned_data[option.name]
                 for option in options.for_place(self.place)}
        return {"name": self.cleaned_data["name"], "place": self.place, "options": given}


class ChoiceForm(forms.Form):
    """Later jobs of a node, an engagement or a model get a runtime."""

    runtime = forms.ModelChoiceField(Runtime.objects.none(), label=_("Runtime"))
    node = forms.ModelChoiceField(Node.objects.none(), label=_("Node"), required=False,
                                  empty_label=_("on any node"))
    engagement = forms.ModelChoiceField(Engagement.objects.none(), label=_("Engagement"),
                                        required=False, empty_label=_("of any engagement"))
    model = forms.ModelChoiceField(MigratedModel.objects.none(), label=_("Model"), required=False,
                                   empty_label=_("of any model"))

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["runtime"].queryset = Runtime.objects.visible_to(user).in_use()
        self.fields["node"].queryset = Node.objects.visible_to(user)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user)
        models = MigratedModel.objects.visible_to(user).current().select_related("engagement")
        self.fields["model"].queryset = models
        self.fields["model"].label_from_instance = (
            lambda model: f"{model.engagement.code} · {model}")
