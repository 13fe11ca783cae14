"""Commands `verify` and `verifier`."""
