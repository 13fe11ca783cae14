"""Office files whose bytes depend on their content alone."""
