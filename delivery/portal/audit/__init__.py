"""The audit log on a page and in the API: labels of actions, filter, check of the chain."""
