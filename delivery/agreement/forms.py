"""The form of what a manager may enter, made of the serializer's inputs."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from delivery.agreement.deliverables import ITEMS
from delivery.agreement.facts import FACTS
from delivery.agreement.models import Agreement
from delivery.agreement.serializers import LONGEST, MOST_MONTHS
from engagements.models import User
from engagements.permissions import Role

SIGNERS = 4  # rows that are offered


class EnteredForm(forms.Form):
    """Texts in both languages, months, deliverables; as the agreement has them now."""

    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args, agreement: Agreement, **kwargs):
        super().__init__(*args, initial=_initial(agreement), **kwargs)
        for fact in sorted(FACTS, key=lambda fact: fact.entry == "text"):  # both languages in a row
            if fact.entry == "text":
                for name, label in ((fact.name, fact.label), (f"{fact.name}_en", format_lazy(
                        "{} ({})", fact.label, _("English")))):
                    self.fields[name] = forms.CharField(
                        label=label, max_length=LONGEST, required=False,
                        widget=forms.Textarea({"rows": 3}))
            elif fact.entry == "months":
                self.fields[fact.name] = forms.IntegerField(
                    label=_("Warranty (months from the final acceptance)"), min_value=1,
                    max_value=MOST_MONTHS, required=False)
            elif fact.entry == "deliverables":
                self.fields[fact.name] = forms.MultipleChoiceField(
                    label=fact.label, required=False, widget=forms.CheckboxSelectMultiple,
                    choices=[(item.code, item.label()) for item in ITEMS.values()])
            elif fact.entry == "signers":
                self._add_signers(agreement)

    def _add_signers(self, agreement: Agreement) -> None:
        people = User.objects.filter(memberships__engagement=agreement.engagement,
                                     role=Role.REVIEWER, is_active=True).order_by("pk")
        choices = [("", "--"), *((user.username, f"{user}") for user in people)]
        now = agreement.value("signers") or []
        for n in range(max(len(now), min(SIGNERS, len(people)))):
            row = now[n] if n < len(now) else {}
            self.fields[f"signer_{n}"] = forms.ChoiceField(
                label=format_lazy("{} · {}", _("Signer of the customer"), n + 1), choices=choices,
                required=False, initial=row.get("user"))
            self.fields[f"capacity_{n}"] = forms.CharField(
                label=format_lazy("{} · {}", _("Capacity"), n + 1), max_length=80, required=False,
                initial=row.get("capacity"))

    def clean(self) -> dict:
        """The signers as the rows that the service takes."""
        found = self.cleaned_data
        chosen = [(found.pop(f"signer_{n}", ""), found.pop(f"capacity_{n}", ""))
                  for n in range(sum(name.startswith("signer_") for name in self.fields))]
        return {**found, "signers": [{"user": user, "capacity": capacity}
                                     for user, capacity in chosen if user]}


def _initial(agreement: Agreement) -> dict:
    found: dict = {"seen": agreement.lock_version if agreement.pk else None}
    for fact in FACTS:
        value = agreement.value(fact.name)
        if fact.entry == "text" and value:
            found |= {fact.name: value["zh-hans"], f"{fact.name}_en": value["en"]}
        elif fact.entry == "deliverables":
            found[fact.name] = [entry["code"] for entry in value or ()]
        elif fact.entry != "signers" and fact.entry:
            found[fact.name] = value
    return found
