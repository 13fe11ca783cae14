"""From measurements to a verdict: the pure arithmetic, and what it is fed."""
