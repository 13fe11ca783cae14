"""Job kinds of accuracy tools: msprobe, msaccucmp, overflow dumps."""
