"""How programs are run on tests, whatever family of problems these are of.

    setup.py      what a family of problems judges with: the builder, targets and jobs of one sandbox
    target.py     which target judges a submission; another one if that is lost
    judging.py    which test to run next, which once more, and when to stop (pure)
    packing.py    how many tests make a job, and how many jobs of a submission run at once
    sharing.py    which programs share a job
    running.py    runs a program: asks `judging.py`, sends jobs, records what came out

`scorer/` (contest problems) and `apps/execution.py` (APPS) say what is run and what it is worth.
"""
