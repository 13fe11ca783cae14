"""Job kinds of conversion, offline models and serving."""
