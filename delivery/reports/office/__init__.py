"""Documents as Word files and workbooks."""
