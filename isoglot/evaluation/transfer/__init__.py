"""Fine-tuning on the source language and zero-shot scores on the target language."""
