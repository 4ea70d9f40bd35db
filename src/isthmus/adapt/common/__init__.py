"""What several methods are made of: ridge regression, AR(1) disturbances, censoring, outliers, effective actions."""
