"""The document engine: PDF and office files, branding, tables. It knows no kind of document."""
