"""From what a robot's sensors show to the observation: filters, and what is learned of sensors from innovations."""
