"""Faults inflicted on a stand-in robot that moves, and whether what is promised of its safety was kept."""

from isthmus.experiments.faults.campaign import Campaign, run_campaign

__all__ = ["Campaign", "run_campaign"]
