"""Jobs as training jobs of ModelArts (version 2 of its API)."""
