"""Rows found by words: an index beside the tables, kept by every write of them."""
