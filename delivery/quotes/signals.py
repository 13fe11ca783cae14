"""What higher apps may listen to."""

from django.dispatch import Signal

# Sent when the firm has approved a quote, inside that transaction. Arguments: quote, actor.
quote_approved = Signal()
# Sent when the customer has accepted a quote, inside that transaction. Arguments: quote, actor.
quote_accepted = Signal()
