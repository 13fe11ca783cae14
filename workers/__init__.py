"""Remote jobs over SSH: nodes, dispatch, files, readers of tool outputs, rules, source scans."""
