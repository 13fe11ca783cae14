"""Two loss curves on common steps: alignment, suspicions, fewer points for drawing."""
