"""What higher apps may listen to."""

from django.dispatch import Signal

# Sent once a job has succeeded, inside its final transaction. Arguments: job, readings.
job_succeeded = Signal()
