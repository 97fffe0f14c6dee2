"""Readers of the files people have: text, dictionaries, parallel sentences."""
