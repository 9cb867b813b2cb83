"""Python programs that stay after their test, communicate with others, or use up resources."""

from __future__ import annotations

from tests.attacks.python_attack import program

STATE = (
    program(
        "left_in_modules",
        "to leave data in modules, builtins and hooks for its next test",
        """
        import builtins, json
        if hasattr(builtins, "left") or hasattr(json, "left") or "left" in sys.modules:
            got("what was left")
        builtins.left = json.left = sys.modules["left"] = 1
        sys.meta_path.insert(0, object())
        sys.path.insert(0, "/box")
        """,
    ),
    program(
        "left_in_files",
        "to leave modules and start-up files for its next test",
        """
        names = ("json.py", "sitecustomize.py", "usercustomize.py", "numpy.py", "_harness.py", "x.pth")
        if any(os.path.exists(name) for name in names):
            got("files of the test before")
        for name in names:
            attempt(lambda: open(name, "w").write("import os\\nprint('1.0')\\nos._exit(0)"))
        """,
    ),
    program(
        "left_as_its_code",
        "to leave other code for its next test, where the harness keeps what it has compiled",
        r"""
        import marshal
        code = marshal.dumps(compile("print('GOT the test before')", "x", "exec"))
        for fd in range(3, 300):
            attempt(os.ftruncate, fd, 0)
            attempt(os.pwrite, fd, len(code).to_bytes(8, "little") + code, 0)
        for name in ("solution.pyc", "/proc/self/fd/65", "/proc/self/fd/67"):
            attempt(lambda: open(name, "wb").write(code))
        print("x")
        """,
    ),
    program(
        "left_in_the_interpreter",
        "to write where the interpreter looks for modules",
        """
        import json
        places = [os.path.dirname(json.__file__), os.path.dirname(os.__file__), *sys.path, sys.prefix]
        for place in places:
            place = place or "/nowhere"
            if place != os.getcwd() and attempt(open, os.path.join(place, "left.py"), "w"):
                got(place)
        """,
    ),
)

OUTLASTING = (
    program(
        "child",
        "a child that outlives it",
        """
        import subprocess
        if attempt(os.fork) is not None:
            got("fork")
        if attempt(subprocess.Popen, ["sleep", "100"]):
            got("a process")
        if attempt(os.posix_spawn, "/usr/bin/sleep", ["sleep", "100"], {}):
            got("posix_spawn")
        """,
    ),
    program(
        "interpreter_again",
        "to execute the interpreter again, by its path and as the launcher does it",
        """
        import ctypes
        path = sys.executable
        words = (ctypes.c_char_p * 4)(path.encode(), b"-c", b"print('GOT it again')", None)
        for key in (0, 1, -1):
            ctypes.CDLL(None).syscall(322, 201, path.encode(), words, None, 0, key)
        attempt(os.execv, path, [path, "-c", "print('GOT it again')"])
        """,
    ),
    program(
        "pool",
        "a pool of processes with shared memory",
        """
        import multiprocessing
        from multiprocessing import shared_memory
        if attempt(shared_memory.SharedMemory, "left", True, 4096):
            got("shared memory")
        try:
            with multiprocessing.Pool(2) as pool:
                got(pool.map(abs, [1]))
        except OSError:
            pass
        """,
    ),
    program(
        "signals",
        "to kill its parent, everybody, and to ignore every signal",
        """
        import signal
        for pid in (os.getppid(), 1, -1, os.getpid() - 1):
            if pid and attempt(os.kill, pid, signal.SIGTERM):
                got(pid)
        for number in range(1, 65):
            attempt(signal.signal, number, signal.SIG_IGN)
        signal.alarm(0)
        while True: pass
        """,
        "TLE",
    ),
    program(
        "thread_that_stays",
        "a thread that goes on after its main thread",
        """
        import threading, time
        threading.Thread(target=lambda: time.sleep(1000)).start()
        """,
        "TLE",
    ),
    program(
        "harness_stripped",
        "to take away the functions by which the harness ends its process",
        """
        import atexit, gc, threading
        os._exit = sys.exit = lambda *a: print("1.0")
        gc.collect = atexit._run_exitfuncs = threading._shutdown = lambda *a: None
        sys.stdout.flush = lambda: 1 / 0
        """,
        "WA RE TLE",
    ),
    program(
        "harness_interrupted",
        "exceptions from another thread, to leave the harness's frames on their way to the end",
        """
        import ctypes, threading
        main = ctypes.c_ulong(threading.get_ident())
        def on():
            while True:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(SystemExit))
        threading.Thread(target=on, daemon=True).start()
        sys.settrace(lambda *a: None)
        print("1.0")
        """,
        "WA RE TLE",
    ),
    program(
        "thread_that_prints",
        "a daemon thread that prints while the judge reads",
        """
        import threading
        def on():
            while True:
                os.write(1, b"1")
        threading.Thread(target=on, daemon=True).start()
        """,
        "WA OLE TLE RE",
    ),
)

TALKING = (
    program(
        "sockets",
        "a socket of any family",
        """
        import socket
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, 16, 40):
            if attempt(socket.socket, family):
                got(family)
        if attempt(socket.create_connection, ("127.0.0.1", 2000), 1):
            got("a connection")
        """,
    ),
    program(
        "descriptors_in_flight",
        "to send descriptors through a pair of sockets, where no limit counts them",
        """
        import array, ctypes, resource, socket
        near, far = socket.socketpair()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
        for number in (near.fileno(), 127, 200, 201, 255):
            if number != near.fileno() and not attempt(os.dup2, near.fileno(), number):
                continue
            end = socket.socket(fileno=os.dup(number)) if number == near.fileno() else near
            if attempt(end.sendmsg, [b"x"], rights) or ctypes.CDLL(None).sendmmsg(number, 0, 0, 0) >= 0:
                got(number)
        attempt(resource.setrlimit, resource.RLIMIT_NOFILE, (256, 256))
        if attempt(os.dup2, near.fileno(), 200):
            got("the number from which the judge lets send")
        """,
    ),
    program(
        "names_for_sockets",
        "to give an end of a pair a name, or to reach one that has",
        """
        import socket
        near, far = socket.socketpair()
        for name in ("\\0judge", "judge", "/run/systemd/notify", ""):
            if attempt(near.bind, name) or attempt(near.connect, name):
                got(name)
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            if attempt(socket.socketpair, socket.AF_UNIX, kind):
                got(kind)
        try:
            near.sendto(b"x", "\\0judge")
        except PermissionError:
            pass
        except OSError as error:
            got("the kernel looked at the address", error)
        """,
    ),
    program(
        "calls_by_ctypes",
        "the kernel's dangerous calls, by ctypes",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        for number in (321, 425, 272, 165):  # bpf, io_uring_setup, unshare, mount
            if libc.syscall(number, 0, 0, 0, 0, 0) >= 0:
                got(number)
        """,
        "SV WA RE",
    ),
)

EXHAUSTING = (
    program(
        "memory",
        "more memory than it may have",
        "kept = bytearray(400 << 20)\nprint(len(kept))",
        "MLE RE",
    ),
    program(
        "shared_mapping",
        "memory in a shared mapping",
        """
        import mmap
        area = attempt(mmap.mmap, -1, 400 << 20)
        if area:
            area[:: 4096] = bytes(len(area) // 4096)
            got("a shared mapping")
        """,
        "WA RE MLE",
    ),
    program(
        "socket_buffers",
        "to keep in pairs of sockets what is not counted as its memory",
        """
        import socket
        ends, kept = [], 0
        while (pair := attempt(socket.socketpair)) is not None:
            ends += pair
        for end in ends:
            end.setblocking(False)
            for size in (1 << 20, 1 << 12, 1):
                while sent := attempt(end.send, bytes(size)):
                    kept += sent
        if kept > 32 << 20:
            got(kept)
        """,
    ),
    program(
        "sockets_of_every_thread",
        "the same with a table of descriptors for each thread, by close_range",
        """
        import ctypes, socket, threading
        def on():
            if ctypes.CDLL(None).syscall(436, 1000, 1000, 2) == 0:  # CLOSE_RANGE_UNSHARE
                print("GOT a table of its own", flush=True)
        threads = [threading.Thread(target=on) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """,
    ),
    program(
        "pages_in_sockets",
        "to have a pair of sockets keep a page for each byte that it is sent of a file",
        """
        import socket
        near, far = socket.socketpair()
        near.setblocking(False)
        with open("pages", "wb") as file:
            file.write(bytes(1 << 20))
        file = os.open("pages", os.O_RDONLY)
        for page in range(256):
            if attempt(os.sendfile, near.fileno(), file, page << 12, 1):
                got("a page")
        """,
    ),
    program(
        "recursion",
        "recursion until the stack breaks",
        "sys.setrecursionlimit(1 << 30)\ndef f(): return f()\nf()",
        "RE MLE",
    ),
    program("number", "a number too long to be printed", "print(9 ** (10 ** 8))", "TLE MLE"),
    program("pattern", "a pattern that never ends", 'import re\nre.match("(a+)+$", "a" * 99 + "b")', "TLE"),
    program("crash", "to crash the interpreter", "import ctypes\nctypes.string_at(0)", "RE"),
    program(
        "source",
        "a source that crashes the interpreter while it is compiled (as a contest program: CE)",
        "x = [1" + " for a in b" * 100_000 + "]",
        "MLE RE TLE CE",  # CE: Python 3.14 raises RecursionError
    ),
    program(
        "code_object",
        "to crash the interpreter by code that no compiler made",
        """
        def f(): pass
        exec(f.__code__.replace(co_code=bytes([100, 255]) * 64, co_consts=()))
        """,
        "RE WA SV TLE MLE",
    ),
)
