"""Adds up a work log."""
