"""What higher apps may listen to."""

from django.dispatch import Signal

# Sent when an issued correction has replaced a document, inside that transaction.
# Arguments: document (the one that is replaced), by (the one in force).
document_replaced = Signal()

# Sent when a document was issued, inside that transaction. Argument: document.
document_issued = Signal()
