"""Forms of the allow-list."""

from django import forms
from django.utils.translation import gettext_lazy as _

from assessments.models import AllowedDifference


class AllowPatternForm(forms.Form):
    """An item with any value, or all items of one beginning."""

    sheet = forms.ChoiceField(label=_("Comparison area"), choices=AllowedDifference.Sheet)
    item = forms.CharField(label=_("Name"), max_length=160,
                           help_text=_("Full name, or a prefix followed by *; any value "
                                       "matches."))
    reason = forms.CharField(label=_("Reason"), max_length=240)
