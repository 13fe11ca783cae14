"""Pages on which an administrator sets the branding of documents."""
