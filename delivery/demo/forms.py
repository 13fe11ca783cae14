"""The form that removes the practice data."""

from django import forms
from django.utils.translation import gettext_lazy as _


class RemovalForm(forms.Form):
    """A new password for the administrator who stays, and the confirmation."""

    password = forms.CharField(
        label=_("Your new password"), strip=False,
        help_text=_("The password of the practice is printed at every start; real work needs "
                    "another one."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))
    is_confirmed = forms.BooleanField(label=_("Yes, remove everything"))
