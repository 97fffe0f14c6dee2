"""What a trained model is worth: zero-shot transfer and the geometry of its hidden states."""
