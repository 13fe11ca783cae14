"""Jobs as pods of a Kubernetes cluster, with Volcano or without."""
