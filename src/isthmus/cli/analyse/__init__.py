"""`isthmus analyse`: what a gap consists of, and how much of it could be closed."""
