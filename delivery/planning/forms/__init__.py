"""Forms of plans, effort, time, changes and project control."""
