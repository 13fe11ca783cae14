"""Forms of jobs, chains and nodes."""
