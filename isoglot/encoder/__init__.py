"""The Transformer of section 3.1 and its sharing map."""
