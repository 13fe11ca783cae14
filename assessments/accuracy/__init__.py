"""What tools say on accuracy: operators, overflow, configuration differences."""
