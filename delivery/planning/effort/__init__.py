"""Person-days: facts of a model, calibration by finished work, usage and margin."""
