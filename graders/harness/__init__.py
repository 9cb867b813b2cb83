"""The Python harness: runs one program, or calls one function of it, inside the box.

THEORY OF OPERATION

There are two kinds of problems. A *stdin* program runs as `python3 solution.py` would: as `__main__`, with the real
standard streams and its own exit code; at its end its threads are joined and its files flushed. For a *call* the
program is loaded as a module, one function (or method of `class Solution`) is called with arguments that are read as
data, and the result is written as data. The harness does not know the expected result and compares nothing. So
whatever a program does to this process, its frames, builtins or descriptors, it can only change its own result.

`execution.py` runs programs, `endings.py` ends and reports their runs, `calls.py` calls functions, `values.py` reads
and writes data, `top_level.py` undoes what the data set changed in its own reference solutions, `other_graders.py` with
`compat/` runs a program as other graders would, `warm.py` forks, `visible_files.py` lists the files that an interpreter
reads, `main.py` is the command line. All of it is sent into the box as one archive that `python3` can run
(`ioi_eval/boxfiles.py`).

THE WARM INTERPRETER

An interpreter takes 15 to 30 ms to start, and 150 with numpy; a fork of a running one takes 1 to 2. So the runner
starts one harness (`serve`), which imports modules that many programs import, and forks for each test. The warm process
never sees a program, an input or an answer, so it has no secret to leak, and no program ever runs in it.
`graders/PROTOCOL.md` says what the runner sends, and what a fork does before it reads its program: no unconfined
process reads a byte of it.

A fork becomes a contestant like any other. It is cloned with CLONE_PARENT and so becomes a child of the runner, which
can wait for it, hold its pidfd and read its exact times and peak memory; its CPU clock begins at 0 with the fork. (Its
peak memory begins with the memory of the warm process, which a new interpreter would use as well.) The runner sees
exits and signals exactly as for a compiled program. If the warm process dies or does not answer, that is the runner's
failure (JE), never the program's.

All forks share the seed of string hashes and the layout of memory. Neither gives one test information about another.
With full isolation the warm process itself runs in the contestant's root directory.

It runs on every Python from 3.8 on, and needs only the standard library.
"""
