"""What a study found, for people: in the terminal and as a page."""
