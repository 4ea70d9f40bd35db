"""A source without actions in a bundle: recorded observations, which the bundle's simulator is inverted to follow."""

from isthmus.adapt.method import SourceFacts
from isthmus.adapt.reference.policy import ReferencePolicy, follower
from isthmus.core import Problem, WorldSpec
from isthmus.deploy.manifest import ADVICE, Bundle, SourcePolicy
from isthmus.tasks import Task
from isthmus.transfer.source.reference import KIND, pack_reference, reference_of

FILE = "reference.npz"
FOLLOWED = "reference"
"""What the manifest calls such a policy."""


def followed_files(policy: ReferencePolicy, spec: WorldSpec) -> tuple[SourcePolicy, dict[str, bytes]]:
    """What the manifest says of the recorded observations, and the file that holds them."""
    return SourcePolicy(kind=FOLLOWED), {FILE: pack_reference(policy.reference, spec)}


def load_followed(bundle: Bundle, task: Task, facts: SourceFacts | None) -> ReferencePolicy:
    """The policy that follows them; `facts` has what an error costs, as it was worked out in the run."""
    if facts is None or facts.cost_to_go is None:
        raise Problem(f"{bundle.path} follows recorded observations, and says not what errors cost: {ADVICE}")
    spec = task.robot_model.spec
    reference = reference_of(*bundle.arrays(FILE, KIND), bundle.path / FILE, spec)
    return follower(reference, task.unclamped(), spec, facts.cost_to_go)
