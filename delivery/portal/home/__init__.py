"""The front page: what waits for the user, jobs in trouble or running, engagements."""
