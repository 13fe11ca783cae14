"""Facts and sentences of weekly reports."""
