"""Template tags of the public document check: its URL and QR code."""
