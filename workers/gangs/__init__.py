"""Jobs on several nodes: how their processes find each other. What happens to them is dispatch."""
