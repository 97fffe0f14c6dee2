"""Masked language modelling on streams of one language at a time (section 3.1)."""
