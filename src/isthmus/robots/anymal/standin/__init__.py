"""A stand-in ANYmal, a process of its own: nobody imports it."""
