"""Tables of documents as plain data, and the widths of their columns."""
