"""Stored files: content store, transfer from nodes, checksums, readings."""
