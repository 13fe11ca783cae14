"""Inventories of machines: xlsx, CSV and Ansible files become rows, and rows become nodes."""
