"""Pages: each parses its request, calls one service and renders a template."""
