//! What nobody means to do, and what somebody does on purpose: files that are broken, huge or deep,
//! output that cannot be written, signals. The command answers in bounded time and memory, with a
//! clear message and the right exit code. Only in a release build: some of it takes a debug build
//! minutes.

#![cfg(not(debug_assertions))]

mod common;

use std::fmt::Write as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use common::{Place, Said};

/// No answer may take longer, even in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// Kilobytes of address space that must do; 256 MB of it is the stack.
const MEMORY: &str = "3000000";

/// What is deep or long is so by this much.
const MANY: usize = 100_000;

const HUGE: usize = 50 << 20;

/// A command that may not use all memory.
fn bounded(place: &Place, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v $0 && exec \"$@\"", MEMORY]);
    command.arg(env!("CARGO_BIN_EXE_spinward")).args(args).current_dir(place.path());
    command
}

/// Waits for the end of a process, but not for ever.
fn wait(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status;
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("no answer in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs the command within bounds.
fn run(place: &Place, args: &[&str]) -> Said {
    let out = std::fs::File::create(place.path().join("out")).expect("a file");
    let err = std::fs::File::create(place.path().join("err")).expect("a file");
    let mut command = bounded(place, args);
    let mut child = command.stdout(out).stderr(err).spawn().expect("the command runs");
    let status = wait(&mut child);
    let (out, err) = (place.read("out"), place.read("err"));
    let code = status.code().unwrap_or_else(|| panic!("killed: {status}: {err}"));
    assert!(out.len() < 1_000_000 && err.len() < 100_000, "too much is said");
    Said { out, err, code }
}

/// Checks a model and expects this exit code and message.
#[track_caller]
fn check(model: impl AsRef<[u8]>, code: i32, message: &str) {
    let place = Place::new();
    place.write("m.pml", model);
    let said = run(&place, &["check", "--time", "2", "m.pml"]);
    assert!(
        said.code == code && (said.out.contains(message) || said.err.contains(message)),
        "{said:#?}"
    );
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{}", line(i));
        text
    })
}

/// Something deep inside of something.
fn nested(before: &str, open: &str, inside: &str, close: &str, after: &str) -> String {
    [before, &open.repeat(MANY), inside, &close.repeat(MANY), after].concat()
}

#[test]
fn models_without_a_process() {
    check("", 2, "no process ever starts");
    check("/* nothing */ // at all\n", 2, "no process ever starts");
    check("byte x;\n", 2, "no process ever starts");
    check("proctype P() { skip }\n", 2, "no process ever starts");
}

#[test]
fn files_that_are_no_text() {
    check(b"init { skip } \xff\xfe", 2, "not UTF-8 text");
    check(b"init { skip \0 }", 2, "control character U+0000");
    check(vec![0xd8; 3 << 20], 2, "not UTF-8 text");
    check("\u{1F600} ☃ init { skip }", 2, "unexpected character");
}

#[test]
fn files_that_cannot_be_read() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("folder")).expect("a folder");
    run(&place, &["check", "folder"]).code(2).err("is a directory");
    run(&place, &["check", "nowhere.pml"]).code(2).err("there is no file");
    run(&place, &["check", "/dev/zero"]).code(2).err("larger than");
    run(&place, &["check", "/dev/null"]).code(2).err("no process ever starts");
    run(&place, &["trail", "good.pml", "/dev/zero"]).code(2).err("too large for a trail");
}

#[cfg(unix)]
#[test]
fn files_that_must_not_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let path = place.path().join("good.pml");
    let locked = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, locked).expect("it is ours");
    if std::fs::read(&path).is_ok() {
        // Nothing is locked for root.
        return;
    }
    run(&place, &["check", "good.pml"]).code(2).err("no permission");
}

#[test]
fn huge_files() {
    check(format!("/* {} */ init {{ skip }}", "x y ".repeat(HUGE / 4)), 0, "verified");
    check("// a line\n".repeat(HUGE / 10) + "init { skip }", 0, "verified");
    check(lines(HUGE / 15, |i| format!("byte v{i};")), 2, "words after macro expansion");
    check(format!("init {{ {} }}", "skip;".repeat(HUGE / 5)), 2, "words after macro expansion");
    let garbage = (0..HUGE as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 25) as u8 % 95 + 32);
    check(garbage.collect::<Vec<u8>>(), 2, "error[");
    check("foo ".repeat(HUGE / 4), 2, "words after macro expansion");
    check("x".repeat(HUGE), 2, "error[");
    check("\"".repeat(HUGE), 2, "error[");
}

#[test]
fn includes_without_end() {
    check("#include \"m.pml\"\n", 2, "includes itself without end");
    check("#include \"nowhere.pml\"\n", 2, "cannot find the file");
    check("#include \".\"\n", 2, "cannot find the file");
    let place = Place::new();
    for i in 0..30 {
        place.write(
            &format!("{i}.inc"),
            format!("#include \"{0}.inc\"\n#include \"{0}.inc\"\n", i + 1),
        );
    }
    place.write("30.inc", "");
    place.write("bomb.pml", "#include \"0.inc\"\n");
    run(&place, &["check", "bomb.pml"]).code(2).err("more than 10000 files are included");
}

#[test]
fn macros_without_end() {
    let doubling = lines(40, |i| format!("#define A{} A{i} A{i}", i + 1));
    check(format!("{doubling} init {{ int x = A40 1 }}"), 2, "words after macro expansion");
    check("#define A A A\ninit { A }", 2, "error[");
    let nested = nested("#define F(x) x + x\ninit { int x = ", "F(", "1", ")", " }");
    check(nested, 2, "error[");
}

#[test]
fn deep_models() {
    const DEEP: &str = "nested too deeply";
    check(nested("init { int x = ", "(", "1", ")", " }"), 2, DEEP);
    check(nested("init { int x = ", "- ", "1", "", " }"), 2, DEEP);
    check(nested("init { int x = ", "!", "1", "", " }"), 2, DEEP);
    check(nested("init { ", "{", "skip", "}", " }"), 2, DEEP);
    check(nested("init { ", "if :: ", "skip", " fi", " }"), 2, DEEP);
    check(nested("byte a[2]; init { ", "a[", "0", "]", " = 1 }"), 2, DEEP);
    check(nested("ltl { ", "[] ", "true", "", " } init { skip }"), 2, DEEP);
    let calls = lines(MANY, |i| format!("inline f{}(a) {{ f{i}(a) }}", i + 1));
    check(format!("int x; inline f0(a) {{ x = a }}\n{calls} init {{ f{MANY}(1) }}"), 2, DEEP);
    // Chains of operators are as deep as they are long.
    check(format!("int x; init {{ x = {}x }}", "x + ".repeat(MANY)), 2, DEEP);
    check(format!("bool a; init {{ {}a }}", "a && ".repeat(MANY)), 2, DEEP);
    check(format!("int x; init {{ x = {}x }}", "x + ".repeat(900)), 0, "verified");
    check(nested("", "#if 1\n", "init { skip }\n", "#endif\n", ""), 0, "verified");
    check(nested("#if ", "(", "1", ")", "\n#endif\ninit { skip }\n"), 2, "nested more than");
}

#[test]
fn long_models() {
    let statements = |n: usize| format!("int x; init {{ {} }}", "x = 1 - x;\n".repeat(n));
    check(statements(2 * MANY), 2, "too many statements in one body");
    check(statements(60_000), 0, "verified");
    check(format!("init {{ do {} od }}", ":: skip ".repeat(MANY)), 2, "too many statements");
    let labels = lines(MANY, |i| format!("l{i}:"));
    check(format!("init {{ {labels} skip }}"), 0, "verified");
    let jumps = lines(30_000, |i| format!("l{i}: goto l{};", i + 1));
    check(format!("init {{ {jumps} l30000: skip }}"), 2, "jumps");
    check(format!("init {{ {} }}", "{ skip; L: skip; goto L };".repeat(15_000)), 0, "verified");
    let wrong = lines(MANY, |i| format!("goto l{i};"));
    check(format!("init {{ {wrong} skip }}"), 2, "no label `l0`");
    let declared = lines(MANY / 2, |i| format!("int variable{i};"));
    let wrong = lines(MANY / 2, |i| format!("varaible{i} = 1;"));
    check(format!("{declared} init {{ {wrong} }}"), 2, "`varaible0` is not declared");
    let name = "n".repeat(1 << 20);
    check(format!("int {name}; init {{ {name} = 1; assert({name} == 1) }}"), 0, "verified");
    check(format!("int {name}; init {{ {name}n = 1 }}"), 2, "is not declared");
    check(format!("init {{ printf(\"{}\") }}", "%d".repeat(MANY)), 0, "verified");
    let records = |n| {
        let fields = lines(n, |i| format!("typedef T{} {{ T{i} a; T{i} b }}", i + 1));
        format!("typedef T0 {{ byte x }} {fields} T60 t; init {{ skip }}")
    };
    check(records(100), 2, "too large");
    check(records(MANY), 2, "records are nested too deeply");
}

#[test]
fn large_states() {
    let variables = lines(70_000, |i| format!("int v{i};"));
    check(format!("{variables} init {{ v69999 = 1; assert(v69999 == 2) }}"), 1, "violated");
    check("byte a[1000000]; init { a[999999] = 1; assert(a[0] == 0) }", 0, "verified");
    check("byte a[2147483647]; init { skip }", 2, "too large");
    check("byte a[2147483648]; init { skip }", 2, "too large");
    check("byte a[-1]; init { skip }", 2, "error[");
    check("byte a[0]; init { skip }", 2, "error[");
    check("chan c = [2147483647] of { int }; init { skip }", 2, "channel");
    let channels = lines(300, |i| format!("chan c{i} = [1] of {{ byte }};"));
    check(format!("{channels} init {{ skip }}"), 2, "more than 255 channels");
    check("active [300] proctype P() { skip }", 2, "255 processes");
    check("active proctype P() { run P() }", 1, "more than 255 processes");
    let names: Vec<String> = (0..300).map(|i| format!("m{i}")).collect();
    check(format!("mtype = {{ {} }}; init {{ skip }}", names.join(", ")), 2, "255 names");
}

/// An atomic sequence or a `d_step` that does not end is one step, but not the end of all limits.
#[test]
fn steps_without_end() {
    let endless = "int x; active proctype P() { atomic { do :: x != -1 -> x++ od } }";
    check(endless, 3, "incomplete");
    check("int x; active proctype P() { d_step { do :: x != -1 -> x++ od } }", 3, "incomplete");
    check(
        "int x; active proctype P() { d_step { do :: x++; assert(x != 9) od } }",
        3,
        "incomplete",
    );
    check("int x; active proctype P() { d_step { do :: x++; assert(x < 0) od } }", 1, "violated");
    check("int x; active proctype P() { d_step { do :: skip od } }", 1, "a d_step never ends");
    check("int x; active proctype P() { d_step { do :: x++ od } }", 3, "incomplete");
    let violated = "int x; active proctype P() { atomic { do :: x++; assert(x < 9) od } }";
    check(violated, 1, "violated");
    let many = "byte i; byte a[20]; active proctype P() {
        atomic { do :: i < 20 -> if :: a[i] = 1 :: a[i] = 2 :: a[i] = 3 fi; i++ :: i == 20 -> break od }
    }";
    check(many, 3, "incomplete");
    let place = Place::new();
    place.write("m.pml", endless);
    for search in ["bfs", "dfs"] {
        let args = ["check", "--memory", "100M", "--search", search, "m.pml"];
        run(&place, &args).code(3).out("the memory of 100 MB was used up");
    }
}

#[test]
fn trails_that_are_none() {
    let place = Place::new();
    for (trail, message) in [
        ("garbage".to_owned(), "line 1: expected"),
        ("1:0".to_owned(), "line 1: expected"),
        ("1:0:0:0:0".to_owned(), "line 1: expected"),
        ("1:-1:0".to_owned(), "-1 is not the number of a process"),
        ("1:0:-1".to_owned(), "-1 is not the number of a statement"),
        ("-9:0:0".to_owned(), "line 1"),
        ("1:0:99999999999999999999".to_owned(), "line 1"),
        ("1:65536:0".to_owned(), "65536 is not the number of a process"),
        ("1:0:4000000000".to_owned(), "no statement number 4000000000"),
        ("-1:-1:-1\n-1:-1:-1\n".to_owned(), "marked twice"),
        ("-2:-2:-2\n".to_owned(), "-2 is not the number of a claim"),
        ("1:0:0\n".repeat(1_000_000), "line 2 of the trail"),
        ("1".repeat(HUGE), "line 1: expected"),
        ("\n".repeat(1_000_000) + "x", "line 1000001: expected"),
    ] {
        place.write("t.trail", trail);
        run(&place, &["trail", "asserts.pml", "t.trail"]).code(2).err(message);
    }
    place.run(&["check", "asserts.pml"]).code(1);
    run(&place, &["trail", "deadlock.pml", "asserts.pml.trail"]).code(2).err("does not fit");
    place.write("t.trail", "-2:3:-2\n");
    run(&place, &["trail", "asserts.pml", "t.trail"]).code(0).err("replayed without that claim");
}

#[test]
fn limits_of_nothing() {
    let place = Place::new();
    run(&place, &["check", "--memory", "1M", "long.pml"]).code(3).out("the memory of 1 MB");
    run(&place, &["check", "--time", "0", "long.pml"]).code(3).out("the time of 0 s was over");
    run(&place, &["check", "--max-depth", "0", "long.pml"]).code(3).out("more than 0 steps");
    run(&place, &["check", "--max-states", "0", "long.pml"]).code(3).out("limit of 0 states");
    let most = u64::MAX.to_string();
    for option in ["--max-depth", "--max-states", "--errors", "--time"] {
        let value = if option == "--time" { "1e15" } else { &most };
        run(&place, &["check", option, value, "long.pml"]).code(1).out("violated");
    }
    for wrong in [["--memory", "0"], ["--memory", "1e40"], ["--time=-1", "-q"], ["--time", "1e40"]]
    {
        run(&place, &["check", wrong[0], wrong[1], "long.pml"]).code(2).err("error: ");
    }
}

/// The verdict and the run are worth more than the file.
#[test]
fn a_trail_that_cannot_be_written() {
    let place = Place::new();
    for trail in ["none/such", ".", "/dev/full"] {
        let said = run(&place, &["check", "--trail", trail, "asserts.pml"]).code(1);
        said.err("cannot write the trail").out("assert(n == 1) is false").out("n: 1 -> 2");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let locked = std::fs::Permissions::from_mode(0o555);
    std::fs::set_permissions(place.path(), locked).expect("it is ours");
    let said = place.run(&["check", "asserts.pml"]).code(1);
    let written = std::fs::write(place.path().join("x"), "").is_ok();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), open).expect("it is ours");
    let said = said.out("n: 1 -> 2");
    // For root nothing is locked.
    if !written {
        said.err("cannot write the trail to asserts.pml.trail");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written() {
    let place = Place::new();
    place.run(&["check", "asserts.pml"]).code(1);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    for args in [
        &["check", "asserts.pml"][..],
        &["check", "--format", "json", "good.pml"],
        &["trail", "asserts.pml", "asserts.pml.trail"],
        &["trail", "-p", "asserts.pml", "asserts.pml.trail"],
        &["simulate", "--seed", "1", "-p", "good.pml"],
        &["graph", "good.pml"],
        &["--help"],
        &["check", "--help"],
        &["--version"],
    ] {
        let output = place.command(args).stdout(full()).output().expect("the command runs");
        Said::new(&output).code(2).err("cannot write output");
        // Where nobody can be told, the exit code still tells.
        let mut command = place.command(&["check", "nowhere.pml"]);
        let status = command.stderr(full()).status().expect("the command runs");
        assert_eq!(status.code(), Some(2));
    }
    for wrong in [&["trail", "good.pml", "nowhere"][..], &["--wrong"]] {
        let status = place.command(wrong).stderr(full()).status().expect("the command runs");
        assert_eq!(status.code(), Some(2), "{wrong:?}");
    }
}

/// A search or a simulation that goes on for a long time.
fn start(place: &Place, args: &[&str]) -> Child {
    let mut command = bounded(place, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command runs");
    // Time to get going.
    std::thread::sleep(Duration::from_millis(1500));
    child
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

fn end(mut child: Child) -> Said {
    wait(&mut child);
    Said::new(&child.wait_with_output().expect("it has ended"))
}

const ENDLESS: &str = "int a, b; active [2] proctype P() { do :: a != b -> a++ :: b++ od }";

/// The whole process, not only what a search counts.
#[cfg(target_os = "linux")]
#[test]
fn a_process_keeps_to_its_memory() {
    let place = Place::new();
    place.write("m.pml", ENDLESS);
    for (store, threads) in [("exact", "1"), ("exact", "2"), ("tree", "8")] {
        let args = ["check", "--memory", "64M", "--store", store, "--threads", threads, "m.pml"];
        let mut child = bounded(&place, &args).stdout(Stdio::piped()).spawn().expect("it runs");
        let status = format!("/proc/{}/status", child.id());
        let mut most = 0;
        while child.try_wait().expect("it is ours").is_none() {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
            most = most.max(kilobytes.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(1));
        }
        end(child).code(3).out("the memory of 64 MB was used up");
        assert!((40 << 10..64 << 10).contains(&most), "{most} kB with {store}, {threads}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_search_with_a_report() {
    let place = Place::new();
    place.write("m.pml", ENDLESS);
    place.write("atomic.pml", "int a; active proctype P() { d_step { do :: a != -1 -> a++ od } }");
    for (name, model, search) in
        [("INT", "m.pml", "bfs"), ("TERM", "m.pml", "dfs"), ("INT", "atomic.pml", "bfs")]
    {
        let child = start(&place, &["check", "--search", search, model]);
        signal(&child, name);
        let said = end(child).code(3).out("the search was interrupted").err("stopping");
        said.out("incomplete: no errors in ");
    }
    let child = start(&place, &["check", "--format", "json", "m.pml"]);
    signal(&child, "INT");
    assert_eq!(end(child).code(3).json()["reasons"][0]["code"], "interrupt");
    let child = start(&place, &["simulate", "--seed", "1", "atomic.pml"]);
    signal(&child, "INT");
    end(child).code(0).out("stopped by the user");
}

/// Whatever the command is doing by then.
#[cfg(unix)]
#[test]
fn a_signal_ends_what_waits_for_input() {
    let place = Place::new();
    place.write("m.pml", ENDLESS);
    let mut child = start(&place, &["simulate", "--interactive", "m.pml"]);
    signal(&child, "INT");
    let status = wait(&mut child);
    assert!(!status.success(), "a process that waits for input ends");
}

/// Also when it cannot end otherwise, here because nobody reads what it prints.
#[cfg(unix)]
#[test]
fn a_second_signal_ends_it_at_once() {
    let place = Place::new();
    place.write("m.pml", "active proctype P() { do :: printf(\"again\\n\") od }");
    let mut child = start(&place, &["simulate", "--seed", "1", "m.pml"]);
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    assert_eq!(wait(&mut child).code(), Some(130));
}

/// As `timeout` does it.
#[cfg(unix)]
#[test]
fn a_signal_that_comes_twice_is_one() {
    let place = Place::new();
    place.write("m.pml", ENDLESS);
    let child = start(&place, &["check", "m.pml"]);
    signal(&child, "INT");
    signal(&child, "INT");
    end(child).code(3).out("the search was interrupted");
}
