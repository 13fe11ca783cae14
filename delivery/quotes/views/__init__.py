"""Pages of quotes and price lists."""
