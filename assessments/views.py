"""Pages of criteria, baselines and verdicts. Being written now."""
