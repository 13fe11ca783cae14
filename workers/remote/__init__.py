"""What runs on a node over SSH: shell scripts, how they are put together, and their answers."""
