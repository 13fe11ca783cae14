"""REST endpoints of branding."""
