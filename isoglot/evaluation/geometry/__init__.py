"""Hidden states, maps between them, retrieval, word alignment and CKA."""
