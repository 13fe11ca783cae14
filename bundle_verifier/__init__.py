"""Checks evidence bundles from their own files: no Django, no database, no network.

Runs on Python alone; signatures and seals need pyHanko, which `signatures` alone imports.
"""
