"""Word splitters, one for each way that languages write words."""
