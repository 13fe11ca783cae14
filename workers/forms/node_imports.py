"""Forms of the inventory import: the file, then the key that opens all its nodes."""

from django import forms
from django.utils.translation import gettext_lazy as _

from workers.forms.jobs import KEY_HELP
from workers.models.node import USERNAME


class InventoryForm(forms.Form):
    upload = forms.FileField(label=_("File"), help_text=_(
        "An .xlsx or CSV table with a heading, or an Ansible inventory (INI or YAML). Nothing is "
        "created before you have seen what it says."))
    username = forms.CharField(
        label=_("User"), max_length=60, required=False, validators=[USERNAME],
        help_text=_("Of machines for which the file names none."))


class InventoryKeyForm(forms.Form):
    private_key = forms.CharField(
        label=_("Private key"), required=False, help_text=KEY_HELP,
        widget=forms.Textarea(attrs={"rows": 6, "autocomplete": "off"}))
    passphrase = forms.CharField(label=_("Passphrase"), required=False,
                                 widget=forms.PasswordInput(attrs={"autocomplete": "off"}))
    is_practice = forms.BooleanField(
        label=_("practice node"), required=False,
        help_text=_("Everything this node produces is marked as practice data."))
