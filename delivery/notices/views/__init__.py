"""Pages of the inbox, of preferences and of channels."""
