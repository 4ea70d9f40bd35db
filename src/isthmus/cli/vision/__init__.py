"""Commands about localisers."""
