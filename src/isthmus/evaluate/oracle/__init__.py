"""The oracle above every method: the best that one-step action adaptation could do, found in the target itself."""

from isthmus.evaluate.oracle.score import (
    METRICS,
    OraclePolicy,
    OracleScore,
    estimated_oracle_score,
    make_metric,
    oracle_score,
)

__all__ = ["METRICS", "OraclePolicy", "OracleScore", "estimated_oracle_score", "make_metric", "oracle_score"]
