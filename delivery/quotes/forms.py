from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models import PriceLine, Quote, RateCard


class LineForm(forms.Form):
    price = forms.ModelChoiceField(PriceLine.objects.exclude(unit_price=None), label=_("Item"))
    quantity = forms.DecimalField(label=_("Quantity"), min_value=0, decimal_places=2)
    months = forms.DecimalField(label=_("Months"), min_value=0, decimal_places=2, initial=1)


class ResourcesForm(forms.Form):
    card = forms.ModelChoiceField(RateCard.objects.all(), label=_("Price list"))
    months = forms.DecimalField(label=_("Months"), min_value=0, decimal_places=2, initial=3)


class TermsForm(forms.ModelForm):
    class Meta:
        model = Quote
        fields = ["valid_until", "discount_rate", "discount_reason", "notes", "notes_en",
                  "source_note"]
        widgets = {"valid_until": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
                   "notes": forms.Textarea(attrs={"rows": 3}),
                   "notes_en": forms.Textarea(attrs={"rows": 3}),
                   "source_note": forms.Textarea(attrs={"rows": 2})}
        help_texts = {"discount_rate": _("As a fraction: 0.05 is 5 %.")}
