"""Writing the evidence bundle of a document: its files, its index page."""
