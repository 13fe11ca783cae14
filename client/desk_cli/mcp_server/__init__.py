"""The desk as an MCP server: an agent's tools, each a few requests to `/api/v1`."""
