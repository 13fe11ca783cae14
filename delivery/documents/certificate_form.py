"""Form of a certificate."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.documents.models import StaffCertificate
from engagements.models import Role, User
from engagements.web.suggest_field import SuggestField


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
