"""The encoder with its sharing map, the cloze head, and the files of a model."""
