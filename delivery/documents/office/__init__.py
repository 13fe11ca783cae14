"""Office files: how workbooks look, and bytes that depend on the content alone."""
