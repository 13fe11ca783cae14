"""Template libraries that the pages of every app load."""
