"""The portfolio: engagements as a table with figures, charts over all of them, saved views."""
