"""Runs programs on tests, for both families of problems.

    target.py      which target judges a submission, and which one if that is lost
    judging.py     which test to run next, which to run once more, and when to stop (pure)
    packing.py     how many tests make a job, and how many jobs of a submission run at once
    run_jobs.py    makes run jobs, which programs may share, has them executed, and reads their answers
    scheduling.py  runs a program: asks `judging.py`, sends jobs, records outcomes

`scorer/` (contest problems) and `apps/execution.py` (APPS) decide what is run, and compute scores from the outcomes.
"""
