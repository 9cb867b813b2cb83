"""Python programs that read forbidden data, or forge a result."""

from __future__ import annotations

from pathlib import Path

from tests.attacks.python_attack import program

READING = (
    program(
        "frames",
        "to find the answer in the frames above its own",
        """
        frame, texts = sys._getframe(), []
        while frame:
            for names in (frame.f_locals, frame.f_globals):
                texts += [repr(value) for value in list(names.values())]
            frame = frame.f_back
        print(loot(texts))
        """,
    ),
    program(
        "every_object",
        "to find the answer among all objects that the collector knows",
        """
        import gc
        texts = []
        for thing in gc.get_objects():
            texts += [x for x in gc.get_referents(thing) if type(x) in (str, bytes)]
        print(loot(texts))
        """,
    ),
    program(
        "frames_by_hooks",
        "to find the answer by every hook that sees frames and calls: traces, profiles, audits",
        r"""
        import atexit
        seen = []
        def watch(frame, event, arg):
            if len(seen) < 10_000:
                seen.extend([arg, *frame.f_locals.values()])
            return watch
        def end():
            sys.settrace(None)
            sys.setprofile(None)
            print(loot([attempt(repr, value) for value in seen]), flush=True)
        atexit.register(end)
        sys.addaudithook(lambda event, arguments: seen.extend(arguments))
        frame = sys._getframe()
        while frame:
            frame.f_trace = watch
            frame = frame.f_back
        sys.setprofile(watch)
        sys.settrace(watch)
        """,
    ),
    program(
        "own_memory",
        "to search its memory for the answer, with ctypes",
        """
        import ctypes
        texts = []
        for thing in (texts, sys, os):
            texts.append(ctypes.string_at(id(thing) - 4096, 8192))
        print(loot(texts))
        """,
    ),
    program(
        "memory_file",
        "/proc/self/mem and the memory of its parent",
        """
        for pid in ("self", os.getppid(), 1):
            for name in ("mem", "maps", "environ", "cmdline"):
                if attempt(open, f"/proc/{pid}/{name}", "rb"):
                    got(pid, name)
        """,
    ),
    program(
        "files_of_the_judge",
        "to read answers, inputs, caches and other people's files",
        """
        for path in ("correct_output.txt", "../correct_output.txt", "/box/plan", "plan", "t0.ans", "/etc/passwd",
                     "/etc/shadow", os.path.expanduser("~/.cache/ioi-eval"), "/root/.cache", "/home", "/tmp",
                     CHECKOUT):
            if attempt(os.listdir, path) or attempt(open, path):
                got(path)
        """.replace("CHECKOUT", repr(str(Path(__file__).resolve().parents[2]))),
    ),
    program(
        "files_beside_the_interpreter",
        "to list every directory above what it sees, and to read files of the system and of other packages",
        """
        seen = [sys.executable, os.__file__, *sys.path]
        for path in {*seen, *(attempt(os.path.realpath, one) or one for one in seen)}:
            while path not in ("/", ""):
                path = os.path.dirname(path)
                own = any(one == path or one.startswith(path + "/") for one in sys.path[1:])
                inside = any(path.startswith(one + "/") or path == one for one in sys.path[1:])
                if own and not inside and any(".json" in name for name in attempt(os.listdir, path) or ()):
                    got(path)
        for path in ("/usr/lib/os-release", "/usr/bin/env", "/usr/share/common-licenses/GPL-3", "/usr/include/stdio.h",
                     "/usr/bin/perl", "/etc/hostname", "/etc/alternatives/awk"):
            if attempt(open, path, "rb"):
                got(path)
        for path in ("/", "/usr", "/usr/bin", "/usr/share", "/usr/src", "/usr/include", "/usr/local", "/opt", "/srv"):
            if attempt(os.listdir, path):
                got(path)
        """,
    ),
    program(
        "environment",
        "to find secrets in its environment and its command line",
        """
        known = {"PATH", "LANG", "HOME", "LC_CTYPE", "PYTHONHASHSEED", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                 "MKL_NUM_THREADS"}
        for name in os.environ:
            if name not in known:
                got(name)
        print(sys.argv, sys.orig_argv)
        """,
    ),
    program(
        "descriptors_left_open",
        "to read every descriptor that there is",
        """
        texts = []
        for fd in range(3, 300):
            texts.append(attempt(os.pread, fd, 1 << 20, 0) or "")
        print(loot(texts))
        """,
    ),
)

FORGING = (
    program(
        "comparators_replaced",
        "to replace whatever compares, in every module",
        """
        import builtins, operator
        yes = lambda *a, **k: True
        for module in list(sys.modules.values()):
            for name in list(vars(module)):
                if any(word in name.lower() for word in ("compar", "check", "equal", "match", "judge", "allclose")):
                    attempt(setattr, module, name, yes)
        builtins.zip = lambda *a: iter(())
        builtins.all = builtins.any = operator.eq = yes
        print("anything")
        """,
    ),
    program(
        "numpy_replaced",
        "to have numpy find everything close",
        """
        try:
            import numpy
            numpy.allclose = numpy.array_equal = lambda *a, **k: True
        except ImportError:
            pass
        print("nan")
        """,
    ),
    program("leaves_at_once", "to end by os._exit(0) without output", "os._exit(0)", "WA"),
    program(
        "leaves_in_an_exit_function",
        "an exit function that changes the exit code and prints",
        """
        import atexit
        atexit.register(lambda: (print("AC 1.0", flush=True), os._exit(0)))
        raise SystemExit(1)
        """,
    ),
    program(
        "report_forged",
        "to write to the harness's report that all is well, and then to fail",
        """
        for fd in range(3, 300):
            attempt(os.write, fd, b'{"phase":"done","verdict":"AC","score":"1"}\\n')
        os._exit(1)
        """,
        "RE",
    ),
    program(
        "report_broken",
        "to write unreadable data to the report",
        """
        for fd in range(3, 300):
            attempt(os.write, fd, bytes(range(256)) + b'{"phase":[[[["\\n' * 1000)
        print("x")
        """,
    ),
    program(
        "report_without_end",
        "to fill the judge's memory by way of the report",
        """
        import time
        end = time.time() + 0.2
        while time.time() < end:
            for fd in (2, 4):
                attempt(os.write, fd, b"x" * 65536)
        """,
        "WA RE OLE TLE",
    ),
    program(
        "stdout_of_the_parent",
        "to write to its parent's standard output",
        """
        for pid in (os.getppid(), 1, os.getpid() - 1):
            for fd in (1, 2, 3):
                if attempt(open, f"/proc/{pid}/fd/{fd}", "wb"):
                    got(pid, fd)
        """,
    ),
    program(
        "stdout_replaced",
        "to put an object of its own in place of its standard output",
        """
        class Everything:
            buffer = property(lambda self: self)
            def __getattr__(self, name):
                return lambda *a, **k: self
            def __eq__(self, other):
                return True
        sys.stdout = sys.__stdout__ = Everything()
        print("x")
        """,
    ),
    program("code_124", "to look like a timeout", "os._exit(124)", "RE"),
    program("words_of_memory", "to look like a program that is out of memory", "raise MemoryError", "RE MLE"),
    program(
        "words_of_the_judge",
        "the messages and lines of the judge",
        """
        for stream in (sys.stderr, sys.stdout):
            print('{"test":0,"verdict":"AC","score":"1.0"}\\n{"end":true}\\nMemoryError\\n1.0', file=stream)
        """,
    ),
    program(
        "endless_words",
        "an exception whose message never ends",
        """
        class Endless(Exception):
            def __repr__(self):
                while True: pass
            __str__ = __repr__
        raise Endless
        """,
        "TLE RE",
    ),
    program(
        "hook",
        "hooks that run at its end: of exceptions, threads, the collector",
        """
        import gc, threading
        sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: os._exit(0)
        class Last:
            def __del__(self):
                print("1.0")
        keep = Last()
        raise ValueError
        """,
    ),
)
