"""The tests. Their folders mirror the package; tests of several packages have folders of their own (`CONTRIBUTING.md`
has the list).
"""
