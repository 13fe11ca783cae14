"""Price lists, quotes and their versions, as xlsx and PDF."""
