"""How alike are the representations of two languages (section 5)."""
