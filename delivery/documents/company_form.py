"""Form of the firm's particulars."""

from django import forms

from delivery.documents.models import CompanyProfile


class CompanyForm(forms.ModelForm):
    class Meta:
        model = CompanyProfile
        fields = ["name", "name_en", "credit_code", "address", "address_en", "phone", "email",
                  "contact_name", "contact_name_en", "bank", "bank_account"]
