"""Wikipedia: its dumps, and its markup taken away."""
