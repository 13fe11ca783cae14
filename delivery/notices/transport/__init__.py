"""Sending messages out: claims, texts, channel protocols, signatures, allowed addresses, HTTP."""
