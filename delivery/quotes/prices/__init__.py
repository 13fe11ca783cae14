"""Price lists read from workbooks of customers and cloud vendors."""
