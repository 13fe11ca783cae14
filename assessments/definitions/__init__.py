"""Metric definitions: the standard ones, their versions, and two logs under one of them."""
