"""Readers of a node's state: npu-smi, versions, hccn, settings."""
