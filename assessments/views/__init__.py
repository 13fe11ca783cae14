"""Pages of criteria, baselines, accuracy and performance."""
