"""The Python harness: runs one program, or calls one function of it, inside the box.

THEORY OF OPERATION

Two kinds of APPS problems. A *stdin* program runs as `python3 solution.py` would: as `__main__`, with the real standard
streams, its threads joined and its files flushed at the end, its exit code its own. For a *call* the program is loaded
as a module, one function (or method of `class Solution`) is called with arguments that came in as data, and the result
goes out as data. Nothing here knows what is expected, and nothing is compared here: whatever a program does to this
process, its frames, its builtins or its descriptors, it can only change what it claims, as it can by returning it.

`program.py` runs, `calls.py` calls a function, `values.py` reads and writes data, `top_level.py` mends what the data
set did to its own reference solutions, `other_graders.py` with `profiles/` runs a program as other graders would,
`warm.py` forks, `main.py` is the command line. All of it travels into the box as one archive that `python3` runs as
it is (`ioi_eval/boxfiles.py`).

THE WARM INTERPRETER

An interpreter takes 15 to 30 ms to start, and 150 with numpy; a fork of a warm one takes 1 to 2. So the runner starts
one harness (`serve`), lets it import what preludes name, and has it fork for each test. The warm process never sees a
program, an input or an answer: it has no secret to leak, and no program ever ran in it. What makes a fork a contestant
like any other:

  Whose child it is. With `sibling`, it is cloned with CLONE_PARENT and becomes a child of the runner, which can wait
    for it, hold its pidfd and read its exact times and peak memory; its CPU clock begins at 0 with the fork. (Its peak
    memory begins with what the warm process has, which a cold start would have used as well.)
  What it holds. The runner sends the descriptors of one test with SCM_RIGHTS: they become 0, 1 and 2; the task is read
    and closed; all others are closed, the control socket first.
  What confines it. The rules are the runner's, and arrive as data: rlimits, a Landlock ruleset (a descriptor), and the
    runner's own seccomp program, installed by `confine` in this order after `no_new_privs`. With `listener`, the
    descriptor of seccomp notifications goes back over the socket `ready`, which is the last thing the child sends. The
    program's text is read *after* all this: no byte of it is looked at by an unconfined process.
  When its time begins. When `ready` is closed, the child is confined and has done nothing else.
  When it ends. Exits, signals and the rest are seen by the runner, exactly as for a compiled program. A warm process
    that dies or does not answer is the runner's fault (JE), never the program's.

Two forks share the seed of string hashes and the layout of their memory. Neither tells one test anything of another.
What is left to the runner: namespaces and root directories, which a process cannot take on by itself as it can a filter
(either each warm process lives in one that it shares with its forks, which seccomp keeps apart, or it is entered with
setns before the fork).

Runs on every Python from 3.8 on, with nothing but the standard library.
"""
