"""What surrounds a job's command: chosen as data, and wrapped around argv in one place."""
