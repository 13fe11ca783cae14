"""Work queues whose truth is a database row: claiming rows, and asking workers to look at them."""
