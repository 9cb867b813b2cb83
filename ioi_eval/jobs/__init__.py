"""Makes jobs for boxes, and reads their answers. Pure.

    job                                             kind     made from           made by      answer read by
    compiles something                              RUNNER   recipes             compile      runner_answer, compile
    runs programs on tests, may compile one first   RUNNER   run_setups          run_job      runner_answer
    finds or compiles the runner itself             SCRIPTS  boxfiles, shipped   find_runner  find_runner
    judges one test by scripts                      SCRIPTS  a problem or row    scripts_job  scripts_answer

Those of kind RUNNER have a `plan` for the runner (`plan` also has its time rules). `harness` makes the recipe by which
a Python interpreter describes itself, and the line of a plan that starts it. Scripts judge only on workers that have
nothing but `cms_ioi`, and for `run_submission`.
"""
