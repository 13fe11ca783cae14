"""What higher apps may listen to."""

from django.dispatch import Signal

# Sent when a model came into the project or was taken out of it, inside that transaction and before
# its audit entry. Arguments: model, actor.
model_added = Signal()
model_dropped = Signal()

# Sent while an engagement is cancelled, before its state says so, and after it was reopened, inside
# that transaction. Arguments: engagement, actor.
engagement_cancelled = Signal()
engagement_reopened = Signal()
