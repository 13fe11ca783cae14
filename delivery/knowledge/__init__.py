"""What the firm learns across engagements: solved cases and measured figures, without names."""
