"""The template library of the top bar."""
