"""The stages: each describes one artifact and calls the science that makes it."""
