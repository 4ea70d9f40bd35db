"""The suite of calibrated gaps: how much of what a gap costs does each method recover?"""
