"""Job kinds of profiling and analysis of profiles."""
