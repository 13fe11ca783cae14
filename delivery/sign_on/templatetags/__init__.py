"""What the sign-in page asks."""
