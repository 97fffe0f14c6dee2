"""Each artifact of a study: its settings, one library call, its files."""
