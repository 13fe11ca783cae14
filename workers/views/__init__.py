"""Pages of jobs, nodes, chains, files, rules and source scans."""
