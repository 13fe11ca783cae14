"""Pages of what the firm learns."""
