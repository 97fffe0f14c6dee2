"""Our models for other people's tools: as plain transformers models with their tokenizers."""
