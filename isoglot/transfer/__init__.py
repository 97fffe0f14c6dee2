"""Zero-shot transfer: tasks learned in English and asked in the other language (section 3.2)."""
