"""The search box: one query over engagements, models, documents, quotes, jobs and nodes."""
