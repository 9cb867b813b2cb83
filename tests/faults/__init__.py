"""Failures of the environment: connections, servers, disks, processes."""
