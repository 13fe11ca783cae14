"""Signing in with the company's own accounts, and second factors; off until settings name them."""
