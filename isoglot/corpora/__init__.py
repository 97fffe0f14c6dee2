"""Text in, token streams out."""
