"""From a finished run to the robot: a bundle that loads without what the run was learned with, and its control loop."""

from isthmus.deploy.load import load_policy
from isthmus.deploy.policy import DeployedPolicy

__all__ = ["DeployedPolicy", "load_policy"]
