"""The evaluation of a trained model: zero-shot transfer and the geometry of its hidden states."""
