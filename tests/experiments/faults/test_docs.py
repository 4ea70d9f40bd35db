"""The table in the documentation is the one of the results that are stored beside it."""

from pathlib import Path

import isthmus
from isthmus.experiments.faults import Campaign
from isthmus.experiments.faults.kinds import FAULTS

DOCS = Path(isthmus.__file__).parents[2] / "docs"


def test_the_fault_table_is_that_of_the_stored_results():
    campaign = Campaign.load(DOCS / "results" / "safety.json")
    assert campaign.table() in (DOCS / "safety.md").read_text(encoding="utf-8")
    shown = {(row["fault"], row["phase"]) for row in campaign.rows}
    assert shown == {(fault.name, phase) for fault in FAULTS for phase in fault.phases}


def test_the_fault_table_over_ros_2_is_that_of_the_stored_results():
    campaign = Campaign.load(DOCS / "results" / "ros2-safety.json")
    assert campaign.facts["transport"] == "ros2"
    assert campaign.table() in (DOCS / "ros2.md").read_text(encoding="utf-8")
    shown = {(row["fault"], row["phase"]) for row in campaign.rows}
    assert shown == {(fault.name, phase) for fault in FAULTS for phase in fault.phases if "ros2" in fault.transports}
