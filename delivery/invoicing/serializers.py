from rest_framework import serializers

from delivery.invoicing.ledger import LedgerState
from delivery.invoicing.models import Invoice, Payment
from engagements.web.engagement_codes import NamesEngagement


class InvoicePaymentSerializer(serializers.ModelSerializer):
    class Meta:
        model = Payment
        fields = ["id", "paid_on", "amount", "reference", "created_by", "created_at"]
        read_only_fields = ["created_by", "created_at"]
        extra_kwargs = {"amount": {"required": False}}


class InvoiceSerializer(NamesEngagement):
    """`amount` incl. tax; below zero on a credit note, which `credits` an invoice. On a new one an
    amount that is left out is all that is not invoiced yet, `due_on` as many days
    after the date as are agreed."""

    payments = InvoicePaymentSerializer(many=True, read_only=True)

    class Meta:
        model = Invoice
        fields = ["id", "engagement", "milestone", "number", "issued_on", "due_on", "amount",
                  "currency", "credits", "created_by", "created_at", "payments"]
        read_only_fields = ["engagement", "milestone", "currency", "credits", "created_by",
                            "created_at"]
        extra_kwargs = {"amount": {"required": False}, "due_on": {"required": False},
                        "number": {"validators": []}}


class CreditNoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Invoice
        fields = ["number", "issued_on", "amount"]
        extra_kwargs = {"amount": {"required": False}, "number": {"validators": []}}


class PaymentsFileSerializer(serializers.Serializer):
    file = serializers.FileField()


class AgeAmountSerializer(serializers.Serializer):
    currency = serializers.CharField()
    amount = serializers.DecimalField(18, 2)


class AgeSerializer(serializers.Serializer):
    """Outstanding amounts overdue by at most `most_days`; null: longer than all others; 0: not yet
    payable."""

    most_days = serializers.IntegerField(allow_null=True)
    label = serializers.CharField()
    amounts = AgeAmountSerializer(many=True)


class EntrySerializer(serializers.Serializer):
    """A milestone in the ledger; amounts incl. tax in `currency`. `amount` is null where no price
    is agreed; `document` is the number of the paper that released it, empty before."""

    id = serializers.IntegerField(source="milestone.pk")
    engagement = serializers.CharField(source="engagement.code")
    customer = serializers.CharField(source="engagement.customer.localized_name")
    name = serializers.CharField(source="milestone.localized_name")
    percent = serializers.DecimalField(5, 2, source="milestone.percent")
    trigger = serializers.CharField(source="milestone.trigger")
    document = serializers.SerializerMethodField()
    currency = serializers.CharField()
    amount = serializers.DecimalField(18, 2, allow_null=True)
    invoiced = serializers.DecimalField(18, 2)
    paid = serializers.DecimalField(18, 2)
    state = serializers.ChoiceField(LedgerState.choices)
    due_on = serializers.DateField(allow_null=True)
    days_overdue = serializers.IntegerField()
    invoices = InvoiceSerializer(many=True)

    def get_document(self, entry) -> str:
        return entry.document.number if entry.document else ""
