"""SSH connections, reachability and card leases of nodes."""
