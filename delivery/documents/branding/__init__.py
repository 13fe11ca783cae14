"""How papers look: colours, logos, cover, head, confidentiality; of the firm, and per customer."""
