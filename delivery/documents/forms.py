"""Forms of the firm's particulars, of certificates and of document branding."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.documents.branding.serializers import BrandingSerializer, read_upload
from delivery.documents.models import BrandingVersion, CompanyProfile, StaffCertificate
from engagements.models import Role, User
from engagements.web.row_form import RowForm
from engagements.web.suggest_field import SuggestField

PICTURES = {"accept": ".png,.jpg,.jpeg,.svg"}
COLOUR = {"type": "text", "data-colour": "", "placeholder": "#12305c", "maxlength": 7,
          "autocomplete": "off"}


class CompanyForm(forms.ModelForm):
    class Meta:
        model = CompanyProfile
        fields = ["name", "name_en", "credit_code", "address", "address_en", "phone", "email",
                  "contact_name", "contact_name_en", "bank", "bank_account"]


class CertificateForm(forms.ModelForm):
    """One's own certificate; an administrator chooses whose."""

    person = SuggestField(User.objects.none(), label=_("Person"), to_field_name="username")
    file = forms.FileField(label=_("Scan (PDF, PNG or JPEG)"), required=False)

    class Meta:
        model = StaffCertificate
        fields = ["person", "kind", "title", "number", "issued_on", "valid_until", "file"]
        widgets = {name: forms.DateInput({"type": "date"}) for name in ("issued_on", "valid_until")}
        help_texts = {
            "title": _("For example: AI Solution Architect"),
            "valid_until": _("Leave empty where it does not end.")}

    def __init__(self, *args, user: User, **kwargs):
        super().__init__(*args, **kwargs)
        people = User.objects.filter(is_active=True, is_service=False).exclude(role=Role.REVIEWER)
        if user.role != Role.ADMINISTRATOR:
            people = people.filter(pk=user.pk)
        self.fields["person"].queryset = people
        self.fields["person"].initial = user.pk

    def _post_clean(self) -> None:
        """The service checks and makes the row."""


class BrandingForm(RowForm):
    """The fields of a version; whether they are good is the service's to say."""

    serializer_class = BrandingSerializer
    left_out = ("customer",)
    widgets = {"colour": forms.TextInput(COLOUR), "accent": forms.TextInput(COLOUR)}
    field_order = ("cover", "colour", "accent", "logo", "without_logo", "partner_logo",
                   "without_partner_logo")

    logo = forms.FileField(label=_("Our logo"), required=False, widget=forms.FileInput(PICTURES),
                           help_text=_("PNG, JPEG or SVG of plain shapes, at most 1 MB."))
    without_logo = forms.BooleanField(label=_("Do not print our logo"), required=False)
    partner_logo = forms.FileField(
        label=_("Customer's logo, beside ours"), required=False, widget=forms.FileInput(PICTURES))
    without_partner_logo = forms.BooleanField(
        label=_("Do not print the customer's logo"), required=False)

    def __init__(self, *args, is_firm: bool, **kwargs):
        super().__init__(*args, **kwargs)
        has = {name: bool(getattr(self.instance, name)) for name in ("logo", "partner_logo")}
        for name, is_there in has.items():
            if not is_there:
                del self.fields[f"without_{name}"]
        if is_firm:
            self.fields.pop("partner_logo")
            self.fields.pop("without_partner_logo", None)
        else:
            self.fields["cover"].choices = [("", _("same as for all customers")),
                                            *BrandingVersion.Cover.choices]

    def for_service(self) -> dict:
        """The values as `save_branding` and `proposed` take them."""
        found = dict(self.cleaned_data)
        for name in ("logo", "partner_logo"):
            upload, is_removed = found.pop(name, None), found.pop(f"without_{name}", False)
            found[name] = b"" if is_removed else read_upload(upload)
        return found
