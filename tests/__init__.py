"""The tests. They mirror the package; what crosses it has a folder of its own (`CONTRIBUTING.md` has the list)."""
