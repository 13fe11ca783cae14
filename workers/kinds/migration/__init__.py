"""Job kinds that analyse and convert source code."""
