"""What forms and pages know of job kinds: catalogue, defaults, rules before a job is queued."""
