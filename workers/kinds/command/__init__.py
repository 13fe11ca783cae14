"""Commands that no other kind covers."""
