"""Forms of quotes. Each carries the revision its writer saw."""

from decimal import Decimal

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from delivery.documents.models import Currency
from delivery.quotes import standard_conditions
from delivery.quotes.models import PriceLine, Quote, QuoteLine, RateCard, TaxRate
from delivery.quotes.serializers import (
    ChangeFrameworkSerializer,
    FrameworkContractSerializer,
    FreeLineSerializer,
    QuoteSerializer,
    RecordAnswerSerializer,
)
from delivery.quotes.services.drafts import MAX_MILESTONES
from delivery.quotes.snapshot import GRADES, grade_label, unit_label
from engagements.models import Customer, Engagement
from engagements.stages import Stage
from engagements.web.percent_field import PercentField
from engagements.web.row_form import RowForm
from engagements.web.suggest_field import SuggestField

DATE = {"type": "date"}


class RevisionForm(forms.Form):
    revision = forms.IntegerField(widget=forms.HiddenInput, required=False)


class CopyForm(forms.Form):
    """The engagement that a copy of a quote is for."""

    engagement = SuggestField(Engagement.objects.none(), label=_("Engagement"),
                              to_field_name="code", help_text=_(
                                  "Lines and terms are copied into a draft; discount and remarks "
                                  "are not."))

    def __init__(self, *args, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(user)


class LineForm(RevisionForm):
    price = forms.ModelChoiceField(PriceLine.objects.none(), label=_("Item"))
    quantity = forms.DecimalField(label=_("Quantity"), decimal_places=2, max_digits=12)
    months = forms.DecimalField(label=_("Months"), decimal_places=2, max_digits=6, initial=1)

    def __init__(self, *args, day=None, **kwargs):
        super().__init__(*args, **kwargs)
        valid = RateCard.objects.valid_on(day or timezone.localdate())
        self.fields["price"].queryset = PriceLine.objects.exclude(unit_price=None).filter(
            card__in=valid).select_related("card")


class ResourcesForm(RevisionForm):
    card = forms.ModelChoiceField(RateCard.objects.none(), label=_("Price list"))
    months = forms.DecimalField(label=_("Months"), min_value=0, decimal_places=2, max_digits=6,
                                initial=3)

    def __init__(self, *args, day=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["card"].queryset = RateCard.objects.valid_on(day or timezone.localdate())


class AnswerForm(RowForm):
    """An answer given outside the portal."""

    serializer_class = RecordAnswerSerializer
    widgets = {"given_on": forms.DateInput(attrs=DATE, format="%Y-%m-%d"),
               "reason": forms.Textarea(attrs={"rows": 2})}
    field_order = ("is_accepted", "way", "given_on", "given_by", "file", "reason")

    is_accepted = forms.TypedChoiceField(
        label=pgettext_lazy("of a customer", "Answer"), coerce=lambda text: text == "true",
        choices=[("", "--"), ("true", _("The customer accepts")),
                 ("false", _("The customer declines"))])
    file = forms.FileField(label=_("Scan of the answer"), required=False, help_text=_(
        "PDF, PNG or JPEG; a mail as PDF. Needed for all that is written."))


def _with_current(choices: list[tuple], current: str) -> list[tuple]:
    known = [code for code, _label in choices]
    return choices if current in known or not current else [*choices, (current, current)]


class QuoteLineForm(RowForm):
    """A line of a draft, free or taken from a price list."""

    serializer_class = FreeLineSerializer
    left_out = ("priced_at",)
    help_texts = {"unit_cost": _("For the firm only; never on the customer's document.")}

    revision = forms.IntegerField(widget=forms.HiddenInput, required=False)
    tax_rate = forms.TypedChoiceField(label=_("Tax rate"), coerce=Decimal)
    unit = forms.ChoiceField(label=_("Unit"))
    grade = forms.ChoiceField(label=_("Grade"), required=False)

    def __init__(self, *args, day=None, **kwargs):
        super().__init__(*args, **kwargs)
        current = self.instance or QuoteLine()
        self.fields["stage"].choices = [("", "--"), *Stage.choices]
        rates = TaxRate.objects.valid_on(day or timezone.localdate())
        choices = [(f"{rate.rate:.4f}", str(rate)) for rate in rates]
        if self.instance:
            self.initial["tax_rate"] = f"{current.tax_rate:.4f}"
            choices = _with_current(choices, self.initial["tax_rate"])
        self.fields["tax_rate"].choices = choices
        units = [(code, unit_label(code)) for code in ("person_day", "month", "once")]
        self.fields["unit"].choices = _with_current(units, current.unit)
        self.fields["grade"].choices = _with_current(
            [("", "--"), *((code, grade_label(code)) for code in GRADES)], current.grade)


class TermsForm(RowForm):
    serializer_class = QuoteSerializer
    widgets = {"valid_until": forms.DateInput(attrs=DATE, format="%Y-%m-%d"),
               "notes": forms.Textarea(attrs={"rows": 3}),
               "notes_en": forms.Textarea(attrs={"rows": 3}),
               "source_note": forms.Textarea(attrs={"rows": 2}),
               "internal_note": forms.Textarea(attrs={"rows": 2})}
    help_texts = {"exchange_rate": _(
        "For a quote in another currency than yuan: yuan for one unit of it, which costs and "
        "margin need as well. In yuan: units of the price list's currency for one yuan; 1 for "
        "a price list in yuan."),
                  "internal_note": _("For the firm only; never on the customer's copy.")}

    revision = forms.IntegerField(widget=forms.HiddenInput, required=False)
    currency = forms.ChoiceField(label=_("Currency"))
    discount_rate = PercentField(label=_("Discount (%)"), min_value=0, max_value=100,
                                 decimal_places=2)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        known = [(c.code, str(c)) for c in Currency.objects.all()] or [("CNY", "CNY")]
        self.fields["currency"].choices = _with_current(known, self.instance.currency)


class CellForm(forms.Form):
    """A row of a table: its inputs carry their column's name for those who cannot see it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            kind = "form-select" if isinstance(field, forms.ChoiceField) else "form-control"
            field.widget.attrs |= {"class": kind, "aria-label": str(field.label)}


class MilestoneForm(CellForm):
    name = forms.CharField(label=_("Milestone"), max_length=80, required=False)
    name_en = forms.CharField(label=_("Milestone (English)"), max_length=80, required=False)
    percent = forms.DecimalField(label="%", min_value=0, max_value=100, decimal_places=2,
                                 max_digits=5, required=False)
    days = forms.IntegerField(label=_("Due after invoice (days)"), min_value=0, max_value=999,
                              required=False)

    def clean(self):
        data = super().clean()
        if bool(data.get("name")) != bool(data.get("percent")):
            raise forms.ValidationError(_("A milestone has a name and a percentage."))
        return data


MilestoneFormSet = forms.formset_factory(MilestoneForm, extra=2, max_num=MAX_MILESTONES)


class StaffForm(CellForm):
    grade = forms.ChoiceField(label=_("Grade"), required=False)
    people = forms.IntegerField(label=_("People"), min_value=1, max_value=99, required=False)
    days = forms.DecimalField(label=_("Person-days"), min_value=0, decimal_places=2,
                              max_digits=8, required=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["grade"].choices = [("", "--"), *((c, grade_label(c)) for c in GRADES)]


StaffFormSet = forms.formset_factory(StaffForm, extra=2, max_num=12)


class ConditionsForm(RevisionForm):
    """The written blocks, each in Chinese and English."""

    def __init__(self, *args, quote: Quote, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial.setdefault("revision", quote.revision)
        for code, title in standard_conditions.TITLES.items():
            for language, label in (("zh", "中文"), ("en", "English")):
                self.fields[f"{code}_{language}"] = forms.CharField(
                    label=f"{title} · {label}", required=False, max_length=2000,
                    widget=forms.Textarea(attrs={"rows": 2}),
                    initial=quote.conditions.get(code, {}).get(language, ""))

    def conditions(self) -> dict:
        """{block: {"zh", "en"}} as the quote stores it."""
        return {code: {language: self.cleaned_data[f"{code}_{language}"]
                       for language in ("zh", "en")} for code in standard_conditions.TITLES}


class ChangeFrameworkForm(RowForm):
    serializer_class = ChangeFrameworkSerializer
    widgets = {"valid_to": forms.DateInput(attrs=DATE, format="%Y-%m-%d")}
    help_texts = {"valid_to": _("Empty: without an end."),
                  "ceiling": _("Empty: no ceiling is agreed.")}


class FrameworkForm(ChangeFrameworkForm):
    serializer_class = FrameworkContractSerializer
    left_out = ("terms",)
    offered = {"customer": Customer.objects.visible_to,
               "card": lambda _user: RateCard.objects.valid_on(timezone.localdate())}
    widgets = {name: forms.DateInput(attrs=DATE, format="%Y-%m-%d")
               for name in ("valid_from", "valid_to")}

    discount_rate = PercentField(label=_("Discount (%)"), min_value=0, max_value=100,
                                 decimal_places=2, initial=Decimal(0))
