"""Who reviews and approves which kind of document."""
