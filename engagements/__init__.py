"""People, customers, engagements, models, stages, gates and the audit log; the lowest layer."""
