from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.invoicing.serializers import (
    CreditNoteSerializer,
    InvoicePaymentSerializer,
    InvoiceSerializer,
)
from engagements.web.row_form import RowForm

DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class LedgerForm(RowForm):
    """What is left out is the rest, or the usual day."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name in {"amount", "due_on"} & self.fields.keys():
            self.fields[name].required = False


class InvoiceForm(LedgerForm):
    serializer_class = InvoiceSerializer
    widgets = {"issued_on": DAY, "due_on": DAY}
    help_texts = {"amount": _("Empty: all that is not invoiced yet."),
                  "due_on": _("Empty: as many days after the invoice as are agreed.")}


class CreditNoteForm(LedgerForm):
    serializer_class = CreditNoteSerializer
    widgets = {"issued_on": DAY}
    help_texts = {"amount": _("Empty: all that is still to be paid.")}


class PaymentForm(LedgerForm):
    serializer_class = InvoicePaymentSerializer
    widgets = {"paid_on": DAY}
    labels = {"amount": _("Amount")}
    help_texts = {"amount": _("Empty: all that is still to be paid.")}


class PaymentsFileForm(forms.Form):
    file = forms.FileField(label=_("List of payments"), help_text=_(
        "xlsx or CSV with the columns number, paid_on, amount, reference."))
