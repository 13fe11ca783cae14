"""What higher apps may listen to."""

from django.dispatch import Signal

# Sent once a job has succeeded, inside its final transaction. Arguments: job, readings.
job_succeeded = Signal()

# Sent when what a reader found in an artifact is stored, inside that transaction.
# Arguments: reading (the StoredReading).
reading_stored = Signal()

# Sent once a job has failed for nothing but that no NPU was shown, inside its final transaction.
# Arguments: job.
job_unproven = Signal()

# Sent when the purpose of a stored file was corrected, inside that transaction. Arguments:
# artifact, actor.
purpose_corrected = Signal()
