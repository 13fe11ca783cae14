from django.urls import path

from delivery.invoicing import views

app_name = "invoicing"

urlpatterns = [
    path("milestones/", views.ledger, name="ledger"),
    path("milestones/xlsx/", views.ledger_xlsx, name="ledger_xlsx"),
    path("milestones/payments/", views.payments_import, name="payments_import"),
    path("milestones/<int:pk>/invoice/", views.invoice_new, name="invoice_new"),
    path("invoices/<int:pk>/credit/", views.credit_new, name="credit_new"),
    path("invoices/<int:pk>/payment/", views.payment_new, name="payment_new"),
]
