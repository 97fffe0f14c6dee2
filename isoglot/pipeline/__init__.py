"""What a study needs made, and which numbers come out."""
