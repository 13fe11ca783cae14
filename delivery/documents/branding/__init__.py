"""Branding of documents: colours, logos, cover, header, confidentiality; per firm and customer."""
