"""Backup and restore: rows as lines of JSON that both databases load, files by their hash."""
