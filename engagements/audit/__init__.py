"""The audit log: its hash chain, comparing rows with it, and what it records by itself."""
