"""`isthmus experiment`: many transfers, and what they come to together."""
