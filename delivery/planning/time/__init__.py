"""Facts and sentences of timesheets."""
