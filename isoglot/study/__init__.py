"""A study as pure description: its file, conditions, scales, languages and tasks; loads no torch."""
