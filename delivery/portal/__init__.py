"""Pages that span the apps: home, search, audit log; error pages and component gallery."""
