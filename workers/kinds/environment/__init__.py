"""Job kinds that look at a node or install software on it."""
