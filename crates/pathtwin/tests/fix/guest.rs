//! Hosts in the lab's guest, with the program in place of ssh.

use crate::common;

/// Loses 1 % of the packets at random. The buffer is small, otherwise the queue of bbr would
/// violate the guard on delay.
pub(crate) const LOSSY: &str =
    "[path]\nrtt = \"30ms\"\nrate = \"20mbit\"\nbuffer = \"4ms\"\nloss = \"1%\"\n";

/// Command line of a process by which the namespace of the router is found.
const WAITS: &str = "sleep 54321";

/// Runs `fix` without a question on the near end of that path, with the rest of its command line;
/// `then` runs after it.
pub(crate) fn on_a_path(fix: &str, then: &str) -> String {
    in_lab(LOSSY, &format!("$fix server --yes {fix}"), then)
}

/// Runs a command on the near end of a path in virtual time, which has `fix` with its first
/// options in `$fix`; `then` runs after it. The program in place of ssh enters the namespace of the
/// server, whose process it finds by its name, or as `router` that of the router at home, if the
/// path has one. `asked ANSWER COMMAND` runs a command on a terminal on which ANSWER is typed at
/// the question.
pub(crate) fn in_lab(text: &str, command: &str, then: &str) -> String {
    let (_folder, spec) = common::spec(text);
    let (_kept, program) = common::program();
    let program = program.display();
    let has_router = text.contains("[local]");
    let ends = if has_router { "far router" } else { "far" };
    let near = format!(
        r#"
export HOME=/tmp PATH=/tmp/bin:$PATH PATHTWIN_JOURNAL=/tmp/near PATHTWIN_SSH=/tmp/ssh
mkdir -p /tmp/bin; ln -s {program} /tmp/bin/pathtwin
cat >/tmp/ssh <<'END'
#!/bin/sh
login=$4; shift 4
for p in /proc/[0-9]*; do
    case "$login $(tr '\0' ' ' <$p/cmdline)" in
        "far "*/pathtwin" serve --open"* | "router {WAITS} ") pid=${{p#/proc/}} ;;
    esac
done
PATHTWIN_JOURNAL=/tmp/$login PATH=/tmp/bin:$PATH exec nsenter -t $pid -n -- sh -c "$*"
END
chmod 700 /tmp/ssh
cat >/tmp/terminal.py <<'END'
{TERMINAL}
END
asked() {{ timeout 3000 python3 /tmp/terminal.py "$@"; }}
on() {{
    [ $1 != here ] || {{ shift; "$@"; return; }}
    /tmp/ssh -o BatchMode=yes -- "$@"
}}
undo() {{
    for host in here {ends}; do
        on $host pathtwin tune list >/tmp/list
        for id in $(sed -n '/confirmed/s/ .*//p' /tmp/list); do on $host pathtwin tune undo $id; done
    done
}}
echo 'ip -d link; ip address; ip route show table all; tc qdisc' >/tmp/dump.sh
dump() {{
    for host in here {ends}; do on $host sh /tmp/dump.sh; done | sed 's/valid_lft.*//'
}}
dump >/tmp/before
fix="{program} fix --open --budget-time 0s --pairs 3 --for throughput"
{command}; echo code $?
dump >/tmp/after
{then}
"#
    );
    let mut command = common::pathtwin();
    command
        .args(["lab", "exec", "--limit", "4000"])
        .arg(spec)
        .args(["--on", "server", "--"])
        .arg(program.to_string())
        .args(["serve", "--open"]);
    if has_router {
        command.args(["--on", "third", "--"]).args(WAITS.split(' '));
    }
    command.args(["--on", "client", "--", "sh", "-c", &near]);
    let output = command.output().expect("run pathtwin");
    let (out, err) = (common::text(&output.stdout), common::text(&output.stderr));
    // Before it is the script, which has all that it may print.
    let (script, err) = err.rsplit_once("(exit ").unwrap_or(("", &err));
    assert!(script.contains("echo code"), "{out}{err}");
    out + err
}

/// A terminal of a program: types the first argument when it asks, and ends with its exit code.
const TERMINAL: &str = r#"import os, pty, sys
answer = sys.argv[1].encode().decode("unicode_escape").encode()
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, questions = b"", 0
while True:
    try:
        shown += os.read(terminal, 65536)
    except OSError:
        break
    if shown.count(b"[y/N] ") > questions:
        questions += 1
        os.write(terminal, answer)
sys.stdout.write(shown.decode().replace("\r", ""))
print("questions", questions)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"#;

/// Nothing differs, and there is no journal.
pub(crate) const UNTOUCHED: &str = r#"
diff /tmp/before /tmp/after && echo no difference
ls /tmp/near /tmp/far 2>/dev/null && echo a journal"#;

/// Undoes all confirmed changes on all hosts, and compares.
pub(crate) const UNDO: &str = "
diff /tmp/before /tmp/after
undo
dump >/tmp/after
diff /tmp/before /tmp/after && echo no trace";
