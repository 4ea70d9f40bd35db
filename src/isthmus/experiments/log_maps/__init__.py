"""How well logs are mapped to robots: recordings that are disguised, and what is found of them."""
