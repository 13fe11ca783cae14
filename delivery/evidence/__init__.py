"""Evidence bundles of documents: written, stored, and verified with or without this application."""
