"""What higher apps may listen to."""

from django.dispatch import Signal

# Sent when a change request came into force, inside that transaction. Argument: change.
change_applied = Signal()
