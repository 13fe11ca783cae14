"""Signatures, seals and revocation: the one part that needs pyHanko and cryptography."""
