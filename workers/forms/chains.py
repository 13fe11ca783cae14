"""Forms of chains: a name and rows of steps, and the models a chain is started for."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement, MigratedModel
from workers import kinds
from workers.jobs.chain_places import given_in
from workers.jobs.shipped_chains import given_label
from workers.models import Node, Runtime

TESTS = (("", _("The step before has succeeded")), ("is", _("… and its result is")),
         ("is_not", _("… and its result is not")), ("above", _("… and its result is above")),
         ("below", _("… and its result is below")))


class ChainForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=80)
    description = forms.CharField(label=_("Description"), max_length=240, required=False)


class StepForm(forms.Form):
    """One step; a row without a kind is left out."""

    kind = forms.ChoiceField(label=_("Kind"), required=False)
    parameters = forms.CharField(
        label=_("Parameters"), required=False, widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One “name = value” per line; what a value may leave open stands above."))
    name = forms.CharField(label=_("Name of the step"), max_length=40, required=False)
    runtime = forms.ModelChoiceField(
        Runtime.objects.in_use(), label=_("Runtime"), required=False,
        empty_label=_("as chosen for the model, the engagement or the node"))
    test = forms.ChoiceField(label=_("Only if"), choices=TESTS, required=False)
    result = forms.CharField(label=_("Name of the result"), max_length=60, required=False)
    value = forms.CharField(label=_("Value"), max_length=120, required=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = [("", "—"), *(
            (kind.code, f"{kind.title} ({kind.code})") for kind in kinds.all_kinds())]

    def clean_parameters(self) -> dict:
        """The lines as a dictionary of texts; the kind gives them their types."""
        found = {}
        for line in self.cleaned_data["parameters"].splitlines():
            name, equals, value = line.partition("=")
            if line.strip() and not equals:
                raise forms.ValidationError(gettext("“%(line)s” has no “=”.") % {"line": line})
            if equals:
                found[name.strip()] = value.strip()
        return found

    def step(self) -> dict | None:
        """The step as `workers.services.chains.save_chain` takes it."""
        data = self.cleaned_data
        if not data.get("kind"):
            return None
        condition = {name: data[name] for name in ("result", "test", "value")}
        return {"kind": data["kind"], "name": data["name"], "parameters": data["parameters"],
                "condition": condition if data["test"] else None,
                "runtime": data["runtime"].pk if data["runtime"] else None}


StepFormSet = forms.formset_factory(StepForm, extra=5, max_num=20)


class _Models(forms.ModelMultipleChoiceField):
    def label_from_instance(self, obj: MigratedModel) -> str:
        return f"{obj.engagement.code} · {obj}"


class StartForm(forms.Form):
    """The models and the node."""

    models = _Models(
        MigratedModel.objects.none(), label=_("Models"), widget=forms.CheckboxSelectMultiple)
    node = forms.ModelChoiceField(Node.objects.none(), label=_("Node"), empty_label=None)

    def __init__(self, *args, user, chain, **kwargs):
        super().__init__(*args, **kwargs)
        self.asked = given_in(chain.steps)
        for name in self.asked:
            self.fields[f"given_{name}"] = forms.CharField(
                label=given_label(name), max_length=500)
        mine = Engagement.objects.visible_to(user)
        self.fields["models"].queryset = MigratedModel.objects.filter(
            engagement__in=mine).select_related("engagement").order_by("engagement__code", "code")
        self.fields["node"].queryset = Node.objects.visible_to(user).filter(
            state=Node.State.READY)

    def given(self) -> dict[str, str]:
        """What the steps' places are filled with, by name."""
        return {name: self.cleaned_data[f"given_{name}"] for name in self.asked}
