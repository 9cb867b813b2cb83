"""Attacks in Rust: on the box in which a program runs, and on its compiler.

A Rust program is machine code, like one in C++, and `programs/` has the attacks on the kernel. This file has attacks
that are particular to Rust, and one attack of each other kind, to show that Rust programs run in the same box.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import ioi_eval


@dataclass(frozen=True, slots=True, kw_only=True)
class RustAttack:
    """One attack.

    Args:
        name: its name, which is the first word of the test's input.
        tries: what it does, for docs/attacks.md.
        body: its statements; `got(what)` reports that it has succeeded.
        expect: the accepted verdicts, with blanks between.
        attempted: calls that the result must list as refused.
    """

    name: str
    tries: str
    body: str
    expect: str = "WA"
    attempted: tuple[str, ...] = ()

    @property
    def long_limit(self) -> bool:
        """Whether it gets the long time limit, because TLE is not accepted."""
        return "TLE" not in self.expect.split()


RUNNING = (
    RustAttack(name="fork", tries="fork", body='if fork() >= 0 { got("a child") }', attempted=("clone",)),
    RustAttack(
        name="command",
        tries="std::process::Command of a shell",
        body='if std::process::Command::new("/bin/sh").arg("-c").arg("echo GOT").status().is_ok() { got("a shell") }',
        expect="WA SV",
    ),
    RustAttack(
        name="exec",
        tries="execve of itself and of a shell",
        body='for path in ["/bin/sh\\0", "/proc/self/exe\\0"] {'
        " let argv = [path.as_ptr(), std::ptr::null()]; execv(path.as_ptr(), argv.as_ptr()); }",
        expect="WA SV",
        attempted=("execve",),
    ),
    RustAttack(
        name="tcp",
        tries="a TCP connection and a listener by std::net",
        body='if std::net::TcpStream::connect("127.0.0.1:22").is_ok() { got("a connection") }'
        ' if std::net::TcpListener::bind("127.0.0.1:0").is_ok() { got("a port") }',
        attempted=("socket",),
    ),
    RustAttack(
        name="unix_socket",
        tries="a pair of local sockets and a name in the abstract space",
        body='use std::os::unix::net::*; if UnixListener::bind("here").is_ok() { got("a local socket") }'
        ' if UnixDatagram::unbound().is_ok() { got("a datagram socket") }',
        attempted=("socket",),
    ),
    RustAttack(
        name="ptrace",
        tries="ptrace of its parent and of PID 1",
        body='for pid in [1, getppid()] { if ptrace(16, pid, 0, 0) == 0 { got("somebody\'s memory") } }',
        expect="WA SV",
        attempted=("ptrace",),
    ),
    RustAttack(
        name="proc",
        tries="/proc: maps, environment, memory and descriptors, its own and those of others",
        body='for path in ["/proc/self/environ", "/proc/self/mem", "/proc/1/environ", "/proc/1/cmdline"] {'
        " if let Ok(data) = std::fs::read(path) { if !data.is_empty() { got(path) } } }"
        ' if std::fs::read_dir("/proc").is_ok() { got("/proc") }',
    ),
    RustAttack(
        name="files",
        tries="files of the machine, of the judge and of the test, and to list directories",
        body='for path in ["/etc/passwd", "/etc/hostname", "plan", "../plan", "/box/t0.ans", "answer"] {'
        " if std::fs::read(path).is_ok() { got(path) } }"
        ' for path in ["/etc", "/usr", "/home", "/var", ".."] { if std::fs::read_dir(path).is_ok() { got(path) } }',
    ),
    RustAttack(
        name="score_channel",
        tries="to write a score to every descriptor that it may have inherited",
        body='for fd in 3..4096 { if write(fd, b"1.0\\n".as_ptr(), 4) == 4 { got("a descriptor") } }',
    ),
    RustAttack(
        name="stdin_write",
        tries="to write to its input",
        body='if write(0, b"x".as_ptr(), 1) == 1 { got("its input") }',
    ),
    RustAttack(
        name="verdict_words",
        tries="to print what a runner or checker would print",
        body='println!("{{\\"test\\":0,\\"verdict\\":\\"AC\\",\\"score\\":\\"1\\"}}");'
        ' eprintln!("1.0"); println!("1.0");',
    ),
    RustAttack(
        name="kill",
        tries="to kill its parent and everybody",
        body="let me = std::process::id() as i32; for pid in [getppid(), -1, 1, 2] {"
        ' if pid != 0 && pid != me && kill(pid, 0) == 0 { got("somebody to kill") } }',
        expect="WA SV",
        attempted=("kill",),
    ),
    RustAttack(
        name="environment",
        tries="std::env::vars and arguments",
        body='for (name, _) in std::env::vars() { if name != "PATH" && name != "LANG" { got(&name) } }',
    ),
    RustAttack(
        name="many_threads",
        tries="10,000 threads that wait",
        body="let mut made = Vec::new(); for _ in 0..10000 {"
        " match std::thread::Builder::new().stack_size(65536).spawn(|| std::thread::park()) {"
        ' Ok(thread) => made.push(thread), Err(_) => break } } if made.len() > 1000 { got("more than 1,000 threads") }'
        " std::thread::sleep(std::time::Duration::from_secs(20));",
        expect="RE",
    ),
    RustAttack(
        name="spinning_threads",
        tries="work in eight threads, whose time adds up",
        body="let all: Vec<_> = (0..8).map(|_| std::thread::spawn(|| {"
        " let mut n = 0u64; loop { n = hidden(n + 1); } })).collect();"
        " for thread in all { let _: Result<(), _> = thread.join(); }",
        expect="TLE",
    ),
    RustAttack(
        name="heap",
        tries="512 MiB on the heap",
        body='let all = vec![1u8; 512 << 20]; println!("{}", all[hidden(9) as usize]);',
        expect="MLE",
    ),
    RustAttack(
        name="mmap_shared",
        tries="256 MiB of shared memory without a name",
        body="let at = mmap(std::ptr::null_mut(), 256 << 20, 3, 0x21, -1, 0);"
        " if at as isize != -1 { for page in (0..(256usize << 20)).step_by(4096) { at.add(page).write_volatile(1); }"
        ' got("uncounted memory") }',
        expect="WA MLE",
        attempted=("mmap",),
    ),
    RustAttack(
        name="heap_in_threads",
        tries="512 MiB by four threads together",
        body="let all: Vec<_> = (0..4).map(|_| std::thread::spawn(|| vec![1u8; 128 << 20])).collect();"
        " let kept: Vec<_> = all.into_iter().map(|thread| thread.join().unwrap()).collect();"
        ' if kept[0][hidden(3) as usize] == 1 { got("more memory than there is") }',
        expect="MLE",
    ),
    RustAttack(
        name="stack",
        tries="recursion without end, in the main thread",
        body='println!("{}", deep(u64::MAX));',
        expect="MLE RE",
    ),
    RustAttack(
        name="thread_stack",
        tries="recursion without end in a thread with 100 GiB of stack, and in a usual one",
        body="match std::thread::Builder::new().stack_size(100 << 30).spawn(|| deep(u64::MAX)) {"
        " Ok(thread) => { let _ = thread.join(); } Err(_) => {"
        " let _ = std::thread::spawn(|| deep(u64::MAX)).join(); } }",
        expect="MLE RE",
    ),
    RustAttack(
        name="output_flood",
        tries="output without end",
        body='let line = "flood ".repeat(8192); loop { println!("{}", line); }',
        expect="OLE",
    ),
    RustAttack(
        name="stderr_flood",
        tries="messages without end",
        body='let line = "flood ".repeat(8192); for _ in 0..20000 { eprintln!("{}", line); }',
        expect="WA OLE TLE",
    ),
    RustAttack(
        name="sleep",
        tries="std::thread::sleep for an hour",
        body="std::thread::sleep(std::time::Duration::from_secs(3600));",
        expect="TLE",
    ),
    RustAttack(
        name="lock_without_end",
        tries="to wait for a lock that is never released",
        body="let m = std::sync::Mutex::new(0); let _a = m.lock(); let _b = m.lock();",
        expect="TLE RE",
    ),
    RustAttack(
        name="panic_in_panic",
        tries="a panic while it unwinds",
        body='struct Bomb; impl Drop for Bomb { fn drop(&mut self) { panic!("again") } }'
        ' let _bomb = Bomb; panic!("once");',
        expect="RE",
    ),
    RustAttack(
        name="exit_code",
        tries="to end with the exit codes of checkers",
        body="std::process::exit(42);",
        expect="RE",
    ),
    RustAttack(
        name="clock",
        tries="to set the clock and the host's name",
        body='let zero = [0i64; 2]; if clock_settime(0, zero.as_ptr()) == 0 { got("the clock") }'
        ' if sethostname(b"x".as_ptr(), 1) == 0 { got("the host\'s name") }',
        expect="WA SV",
    ),
)

_HEAD = r"""
use std::io::Read;

extern "C" {
    fn fork() -> i32;
    fn execv(path: *const u8, argv: *const *const u8) -> i32;
    fn ptrace(request: i64, pid: i32, addr: usize, data: usize) -> i64;
    fn getppid() -> i32;
    fn kill(pid: i32, signal: i32) -> i32;
    fn write(fd: i32, from: *const u8, count: usize) -> isize;
    fn mmap(at: *mut u8, length: usize, rights: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn clock_settime(clock: i32, to: *const i64) -> i32;
    fn sethostname(name: *const u8, length: usize) -> i32;
}

fn hidden<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

fn deep(n: u64) -> u64 {
    let here = [n; 64];
    if n == 0 { 0 } else { 1 + deep(unsafe { *hidden(&here[5] as *const u64) } - 1) }
}

fn got(what: &str) {
    println!("GOT {}", what);
    std::process::exit(0);
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[0] {
        "honest" => println!("{}", words[1].parse::<u64>().unwrap() + words[2].parse::<u64>().unwrap()),
"""


def program() -> str:
    """All attacks of `RUNNING` in one program, which also solves honest tests."""
    arms = "".join(f'        "{one.name}" => unsafe {{ {one.body} }},\n' for one in RUNNING)
    return f'{_HEAD}{arms}        _ => {{}}\n    }}\n    println!("held");\n}}\n'


# --------------------------------------------------------------------------- on the compiler


@dataclass(frozen=True, slots=True, kw_only=True)
class RustCompileAttack:
    """One attack on the compiler: its source, the accepted verdicts, and whether it uses up the limit of CPU time."""

    name: str
    tries: str
    code: Callable[[], str]
    expect: str = "CE"
    slow: bool = False


def _prints(expression: str) -> str:
    """A program that prints what the compiler has read of a file, if it compiles."""
    return f'fn main() {{ println!("GOT {{:?}}", {expression}); }}\n'


_SAMPLE = str(Path(ioi_eval.__file__).parent / "sample" / "problems.jsonl")
_PATHS = {
    "passwd": "/etc/passwd",
    "os_release": "/usr/lib/os-release",
    "licence": "/usr/share/common-licenses/GPL-3",
    "sample": _SAMPLE,
    "plan": "plan",
    "plan_above": "../plan",
    "answer": "/box/t0.ans",
    "runner": "/box/runner",
    "descriptor": "/proc/self/fd/5",
    "environ": "/proc/self/environ",
    "maps": "/proc/self/maps",
    "parents_environ": "/proc/1/environ",
    "checker": "checker.cpp",
    "grader": "graders/grader.cpp",
    "directory": "/",
    "zero": "/dev/zero",
}


def _linked_with(argument: str) -> str:
    """A library whose name contains an argument. It is so long that rustc writes all arguments to a file, where it does
    not quote line feeds. (Shorter arguments and many libraries without content reach the linker's own limits later.)
    """
    name = r"\n".join(["c", "-Wa," + "a" * 125_000, *["-ldl"] * 1500, argument])
    return f'#[link(name = "{name}")]\nextern "C" {{}}\n'


_STARTED = "//:\n/*\n\n*post_link:\n./a.out started\n\n*/ //:\n"
"""As specs of GCC's driver: after the link, it starts the program. In Rust it is a comment."""

_ENDS_WITHOUT_A_PROGRAM = (
    'fn main() { if std::env::args().nth(1).is_some() { std::fs::remove_file("a.out").unwrap(); } println!("GOT"); }\n'
)


def _loaded(constructor: str) -> str:
    """As specs of GCC's driver: after the link, it compiles the C++ in the file to a plugin, which a linker loads.

    In C++ the Rust is left out. In Rust all of this is a comment, because Rust's comments can contain others.
    """
    return (
        "//:\n/*\n\n*post_link:\n"
        "%{shared:;:g++ -x c++ -shared -fPIC -w -o p.so sealed.rs \n ld -plugin ./p.so a.o}\n\n*/ //:\n"
        "/* /* */\n"
        "#include <fcntl.h>\n#include <sched.h>\n#include <signal.h>\n#include <time.h>\n#include <unistd.h>\n"
        "#include <sys/stat.h>\n#include <sys/wait.h>\nstatic char stack[65536];\n"
        f"__attribute__((constructor)) void act() {{ {constructor} }}\n"
        "#if 0\n// */\n"
    )


_LOADED_END = "/* /* */\n#endif\n// */\n"


def _loaded_by_linker(constructor: str) -> str:
    return _loaded(constructor) + _linked_with("-specs=sealed.rs") + "fn main() {}\n" + _LOADED_END


def _reading() -> list[RustCompileAttack]:
    found = []
    for name, path in _PATHS.items():
        for macro in ("include_bytes", "include_str"):
            code = _prints(f'{macro}!("{path}")')
            found.append(
                RustCompileAttack(name=f"{macro}_{name}", tries=f"{macro}! of {path}", code=partial(str, code))
            )
    for name in ("passwd", "plan", "sample", "environ"):
        path = _PATHS[name]
        texts = {
            "include": _prints(f'include!("{path}")'),
            "path": f'#[path = "{path}"]\nmod loot;\nfn main() {{}}\n',
            "incbin": f'std::arch::global_asm!(".incbin \\"{path}\\"");\nfn main() {{}}\n',
            "asm_include": f'std::arch::global_asm!(".include \\"{path}\\"");\nfn main() {{}}\n',
            "link_static": f'#[link(name = "{path}", kind = "static")]\nextern "C" {{ fn loot(); }}\n'
            "fn main() { unsafe { loot() } }\n",
        }
        for way, code in texts.items():
            found.append(RustCompileAttack(name=f"{way}_{name}", tries=f"{way} of {path}", code=partial(str, code)))
    return found


def _macro_bomb() -> str:
    return (
        '#![recursion_limit = "4294967295"]\nmacro_rules! grow { ($($t:tt)*) => { grow!($($t)* $($t)* x) } }\n'
        "fn main() { grow!(x x); }\n"
    )


def _const_loop(more: str = "") -> str:
    return (
        f"#![allow(long_running_const_eval)]{more}\nconst fn spin() -> u64 {{ let mut n = 0u64;"
        ' while n < u64::MAX { n += 1; } n }\nconst V: u64 = spin();\nfn main() { println!("{}", V); }\n'
    )


def _type_bomb() -> str:
    body = "".join(f"    let a{n} = (a{n - 1}.clone(), a{n - 1});\n" for n in range(1, 40))
    return f'fn main() {{\n    let a0 = (1u8, 2u8);\n{body}    println!("{{:?}}", a39);\n}}\n'


def _deep(opening: str, closing: str, depth: int = 200_000) -> str:
    return f'fn main() {{ let x = {opening * depth}1{closing * depth}; println!("{{}}", x); }}\n'


def _many(line: str, count: int) -> str:
    return "".join(line.format(n) for n in range(count)) + "fn main() {}\n"


COMPILING = (
    *_reading(),
    RustCompileAttack(
        name="env",
        tries="env! of what the judge may have in its environment",
        code=lambda: _prints('[option_env!("IOI_EVAL_CACHE"), option_env!("SSH_AUTH_SOCK"), option_env!("USER")]'),
        expect="WA",
    ),
    RustCompileAttack(
        name="env_needed", tries="env! of a name that is not there", code=lambda: _prints('env!("USER")')
    ),
    RustCompileAttack(
        name="features", tries="to switch on unstable features", code=lambda: "#![feature(asm_sym)]\nfn main() {}\n"
    ),
    RustCompileAttack(
        name="rustc_private",
        tries="the compiler's own crates",
        code=lambda: "extern crate rustc_driver;\nfn main() {}\n",
    ),
    RustCompileAttack(
        name="proc_macro_crate",
        tries="to be a crate of macros that the compiler runs",
        code=lambda: (
            '#![crate_type = "proc-macro"]\nextern crate proc_macro;\nuse proc_macro::TokenStream;\n'
            "#[proc_macro]\npub fn evil(_: TokenStream) -> TokenStream { std::process::exit(0) }\nfn main() {}\n"
        ),
    ),
    RustCompileAttack(
        name="library",
        tries="to be a library",
        code=lambda: '#![crate_type = "cdylib"]\npub fn main() {}\n',
        expect="WA CE",
    ),
    RustCompileAttack(
        name="no_main",
        tries="an entry point of its own",
        code=lambda: '#![no_main]\n#[no_mangle]\npub extern "C" fn main() -> i32 { println!("own"); 0 }\n',
        expect="WA",
    ),
    RustCompileAttack(
        name="own_start",
        tries="a symbol _start of its own",
        code=lambda: '#[no_mangle]\npub extern "C" fn _start() {}\nfn main() {}\n',
    ),
    RustCompileAttack(
        name="linker_arguments",
        tries="arguments for the linker",
        code=lambda: '#![feature(link_args)]\n#[link_args = "-T/etc/passwd"]\nextern "C" {}\nfn main() {}\n',
    ),
    RustCompileAttack(
        name="linker_file",
        tries="no program at all, by an argument for the linker in the file that rustc writes for very long arguments",
        code=lambda: _linked_with("-fsyntax-only") + "fn main() {}\n",
    ),
    RustCompileAttack(
        name="linker_starts_it",
        tries="to be executed while it is compiled: by the same file, and rules for the linker's driver in its source",
        code=lambda: _STARTED + _linked_with("-specs=sealed.rs") + _ENDS_WITHOUT_A_PROGRAM,
    ),
    RustCompileAttack(
        name="linker_loads_it",
        tries="to be loaded by the linker as a plugin, which works now and then, so that the machine looks too busy",
        code=lambda: _loaded_by_linker("for (;;) usleep(100000);"),
    ),
    RustCompileAttack(
        name="linker_hides_time",
        tries="the same, and to use CPU time in children that nobody waits for, so that it does not count",
        code=lambda: _loaded_by_linker(
            "signal(SIGCHLD, SIG_IGN);"
            "for (;;) { if (fork() == 0) { while (clock() < CLOCKS_PER_SEC / 64) {} _exit(0); } wait(0); }"
        ),
    ),
    RustCompileAttack(
        name="linker_waits_for_a_thread",
        tries="the same, and to wait for a thread as one waits for a vfork, in a state that looks like work",
        code=lambda: _loaded_by_linker(
            "clone([](void*) -> int { for (;;) pause(); }, stack + 65536, 0x50f00 | CLONE_VFORK, 0);"
        ),
    ),
    RustCompileAttack(
        name="linker_waits_for_the_disk",
        tries="the same, and to wait for a disk for ever, by each way to have something written or read at once",
        code=lambda: _loaded_by_linker(
            'int file = open("f", O_CREAT | O_RDWR | O_DSYNC, 0644);'
            'if (file < 0) file = open("f", O_CREAT | O_RDWR, 0644);'
            "for (;;) { pwrite(file, stack, 4096, 0); sync_file_range(file, 0, 4096, 7); fdatasync(file); }"
        ),
    ),
    RustCompileAttack(
        name="linker_makes_a_deep_tree",
        tries="the same, and to put directories into directories, below the name of its source, until the judge cannot"
        " remove them",
        code=lambda: _loaded_by_linker(
            'unlink("sealed.rs"); for (int i = 0; i < 8000 && (i == 0 || chdir("sealed.rs") == 0); i++)'
            ' mkdir("sealed.rs", 0755);'
        ),
    ),
    RustCompileAttack(
        name="extern_crates", tries="a crate from a registry", code=lambda: "use libc::fork;\nfn main() {}\n"
    ),
    RustCompileAttack(name="const_loop", tries="a constant without end", code=_const_loop),
    RustCompileAttack(
        name="const_loop_unlimited",
        tries="the same with the limit of the evaluator raised",
        code=lambda: _const_loop('\n#![feature(const_eval_limit)]\n#![const_eval_limit = "0"]'),
    ),
    RustCompileAttack(name="macro_bomb", tries="a macro that doubles for ever", code=_macro_bomb),
    RustCompileAttack(name="type_bomb", tries="types that double", code=_type_bomb, expect="CE MLE RE", slow=True),
    RustCompileAttack(
        name="generics_without_end",
        tries="generics without end",
        code=lambda: "fn f<T>(t: T) { f((t, 1u8)) }\nfn main() { f(1u8) }\n",
    ),
    RustCompileAttack(
        name="deep_parentheses", tries="200,000 parentheses", code=lambda: _deep("(", ")"), expect="CE WA"
    ),
    RustCompileAttack(name="deep_blocks", tries="200,000 blocks", code=lambda: _deep("{", "}"), expect="CE WA"),
    RustCompileAttack(name="deep_minus", tries="200,000 signs", code=lambda: _deep("-", ""), expect="CE WA"),
    RustCompileAttack(
        name="include_itself", tries="a file that includes itself", code=lambda: "include!(file!());\nfn main() {}\n"
    ),
    RustCompileAttack(
        name="gigabyte",
        tries="a program of 1 GB",
        code=lambda: (
            'static A: [u8; 1 << 30] = [1; 1 << 30];\nfn main() { println!("{}", A[std::env::args().count()]); }\n'
        ),
    ),
    RustCompileAttack(
        name="assembled_gigabyte",
        tries="the same by the assembler",
        code=lambda: 'std::arch::global_asm!(".data", ".fill 1073741824, 1, 1");\nfn main() {}\n',
        slow=True,
    ),
    RustCompileAttack(
        name="many_errors", tries="a flood of errors", code=lambda: _many("fn f{0}() {{ x{0} }}\n", 20_000), slow=True
    ),
    RustCompileAttack(
        name="many_warnings",
        tries="a flood of warnings",
        code=lambda: _many("fn Unused{0}() {{ let mut x = {0}; }}\n", 20_000),
        expect="CE WA",
    ),
    RustCompileAttack(
        name="words_of_a_kill",
        tries="to look like a compiler that the machine killed",
        code=lambda: (
            'compile_error!("Killed signal terminated program cc1plus\\nNo space left on device");\nfn main() {}\n'
        ),
    ),
    RustCompileAttack(
        name="terminal_codes",
        tries="terminal control codes in the compiler's messages",
        code=lambda: 'compile_error!("\\x1b[2J\\x1b]0;AC\\x07");\nfn main() {}\n',
    ),
)


def section() -> str:
    """The section of docs/attacks.md about Rust, with the verdicts that are accepted at both levels."""
    parts = []
    for title, attacks in (("Rust", RUNNING), ("Rust at compile time", COMPILING)):
        lines = []
        for one in attacks:
            tries = one.tries.replace(_SAMPLE, "the sample contest")
            lines.append(f"| `rust_{one.name}` | {tries} | {' or '.join(one.expect.split())} |")
        parts.append(f"## {title}\n\n| attack | what it tries | verdict |\n|---|---|---|\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)
