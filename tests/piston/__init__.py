"""Tests of `piston/`: the package, the image and the scripts for a cluster."""
