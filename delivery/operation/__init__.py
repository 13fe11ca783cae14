"""Running the desk in a company: health, figures, logs, backup and restore, checks, keys."""
