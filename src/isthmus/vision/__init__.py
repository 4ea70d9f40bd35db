"""Object localisers that are trained on randomised renderings only (Tobin et al. 2017), and tried on other cameras."""
