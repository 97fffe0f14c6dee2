"""Measurements become findings: scores by model, the noise between seeds, verdicts, and comparisons with Default."""
