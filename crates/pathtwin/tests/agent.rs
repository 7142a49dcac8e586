//! Tests of the agent, the build for routers: small, static, economical, and portable to another
//! processor. `make agent` builds it.

#![allow(clippy::expect_used)]

mod common;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use common::{agent, emulated, native, server::Server, text};
use model::{
    net::Direction,
    run::{Invalid, Run, Sample},
};

/// Bytes of a router's flash that it may take.
const LARGEST: u64 = 6_000_000;

/// Memory that it may take while it serves one client, KiB: 12 MB.
const MOST_RESIDENT_KIB: u64 = 12_000_000 / 1024;

/// Both directions at full speed, long enough to measure the memory per load.
const FULL_SPEED: &str = "
[[step]]
kind = 'tcp'
direction = 'down'
flows = 1
warmup_s = 1
duration_s = 5
[[step]]
kind = 'tcp'
direction = 'up'
flows = 1
warmup_s = 1
duration_s = 5
";

/// One of each kind that sends in its own way; TCP with the congestion control of the host, as
/// there the emulation cannot choose another.
const SHORT: &str = "
[[step]]
kind = 'idle'
duration_s = 1
[[step]]
kind = 'udp'
direction = 'down'
rate_bps = 4_000_000
payload = 1000
duration_s = 1
[[step]]
kind = 'udp'
direction = 'up'
rate_bps = 4_000_000
payload = 1000
duration_s = 1
[[step]]
kind = 'tcp'
direction = 'down'
flows = 2
cc = ['CC']
warmup_s = 0.5
duration_s = 2
[[step]]
kind = 'tcp'
direction = 'up'
flows = 2
cc = ['CC']
warmup_s = 0.5
duration_s = 2
[[step]]
kind = 'http'
bytes = 100_000
duration_s = 1
";

/// Numbers of an ELF file for 64-bit little-endian processors (ELF-64 Object File Format 1.5).
struct Elf(Vec<u8>);

impl Elf {
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("read the agent");
        // ELFCLASS64 and ELFDATA2LSB.
        assert_eq!(bytes[..6], *b"\x7fELF\x02\x01");
        Self(bytes)
    }

    fn number(&self, at: usize, bytes: usize) -> usize {
        let digits = self.0[at..at + bytes].iter().rev();
        digits.fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    }

    fn machine(&self) -> usize {
        self.number(18, 2)
    }

    /// Types of the program headers.
    fn segments(&self) -> Vec<usize> {
        let (table, size, count) = (self.number(32, 8), self.number(54, 2), self.number(56, 2));
        let entry = |i| self.number(table + i * size, 4);
        (0..count).map(entry).collect()
    }

    /// Types of the section headers.
    fn sections(&self) -> Vec<usize> {
        let (table, size, count) = (self.number(40, 8), self.number(58, 2), self.number(60, 2));
        let entry = |i| self.number(table + i * size + 4, 4);
        (0..count).map(entry).collect()
    }
}

#[test]
fn it_is_small_static_and_stripped() {
    const PT_LOAD: usize = 1;
    const PT_INTERP: usize = 3;
    const SHT_SYMTAB: usize = 2;
    // EM_X86_64 and EM_AARCH64.
    for (processor, machine) in [("x86_64", 62), ("aarch64", 183)] {
        let path = agent(processor);
        let size = std::fs::metadata(&path).expect("its size").len();
        eprintln!("{processor}: {size} bytes");
        assert!(size <= LARGEST, "{processor}: {size} bytes");
        let elf = Elf::read(&path);
        assert_eq!(elf.machine(), machine);
        assert!(elf.segments().contains(&PT_LOAD));
        assert!(!elf.segments().contains(&PT_INTERP), "{processor}: dynamic");
        assert!(
            !elf.sections().contains(&SHT_SYMTAB),
            "{processor}: symbols"
        );
    }
}

#[test]
fn it_serves_one_client_at_full_speed_in_little_memory() {
    let folder = tempfile::tempdir().expect("make a folder");
    let server = Server::start(native(), &folder.path().join("key"), &[]);
    let run = measure(native(), &server, folder.path(), FULL_SPEED);
    assert!(run.samples.iter().all(|s| goodput(s) > 0.0));
    let most = server.kib("VmHWM");
    eprintln!("most resident: {most} KiB");
    assert!(most <= MOST_RESIDENT_KIB, "{most} KiB");
}

/// Measures a server and returns the run.
fn measure(program: Command, server: &Server, folder: &Path, plan: &str) -> Run {
    let file = folder.join("plan.toml");
    let head = "probe_ms = 20\nrepeats = { min = 1, max = 1 }\n";
    std::fs::write(&file, format!("{head}{plan}")).expect("write the plan");
    let mut program = program;
    let output = program
        .arg("measure")
        .arg(server.address.to_string())
        .arg("--key")
        .arg(folder.join("key"))
        .arg("--plan")
        .arg(&file)
        .args(["--output", "json"])
        .env("XDG_CONFIG_HOME", folder)
        .stderr(Stdio::piped())
        .output()
        .expect("run the agent");
    assert!(common::is_measured(&output), "{}", text(&output.stderr));
    let run = Run::parse(&output.stdout).expect("a run");
    assert_eq!(run.cut_short, None);
    run
}

fn goodput(sample: &Sample) -> f64 {
    sample.tcp.as_ref().map_or(0.0, |tcp| tcp.goodput_bps)
}

/// A sample must have figures, and must not be invalid because of unknown values. A busy processor
/// or a clock step is not a fault of the program.
fn complete(sample: &Sample) {
    let wrong = |invalid: &&Invalid| {
        matches!(
            invalid,
            Invalid::Failed { .. } | Invalid::CongestionReplaced { .. }
        )
    };
    assert_eq!(sample.invalid.iter().find(wrong), None, "{:?}", sample.key);
    let measured = [
        sample.tcp.as_ref().map(|tcp| tcp.goodput_bps > 0.0),
        sample.udp.as_ref().map(|udp| udp.received > 0),
        sample.short.as_ref().map(|short| short.n > 0),
        // A round trip of a second on loopback was waited out, not measured.
        sample
            .probes
            .as_ref()
            .map(|probes| probes.p50_us.is_some_and(|p50| p50 > 0.0 && p50 < 1e6)),
    ];
    let measured: Vec<bool> = measured.into_iter().flatten().collect();
    assert!(!measured.is_empty(), "{:?}", sample.key);
    assert!(!measured.contains(&false), "{:?}: {measured:?}", sample.key);
}

/// The samples of TCP: `unknown` is the direction whose sender is emulated, whose kernel does not
/// report it.
fn check(run: &Run, unknown: Direction) {
    assert_eq!(run.samples.len(), 6);
    run.samples.iter().for_each(complete);
    for sample in run.samples.iter().filter(|s| s.tcp.is_some()) {
        let tcp = sample.tcp.as_ref().expect("of TCP");
        assert_eq!(tcp.flows.len(), 2);
        let known = sample.key.direction != Some(unknown);
        for flow in &tcp.flows {
            assert_eq!(flow.retransmits.is_some(), known, "{:?}", sample.key);
            assert_eq!(flow.rtt_p50_us.is_some(), known, "{:?}", sample.key);
            assert!(flow.goodput_bps > 0.0);
        }
        assert_eq!(tcp.cc_used.is_some(), known, "{:?}", sample.key);
    }
}

fn short() -> String {
    let default = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    SHORT.replace("CC", default.expect("the host's default").trim())
}

#[test]
fn the_one_for_aarch64_measures() {
    let folder = tempfile::tempdir().expect("make a folder");
    let server = Server::start(native(), &folder.path().join("key"), &[]);
    let run = measure(emulated(), &server, folder.path(), &short());
    check(&run, Direction::Up);
}

#[test]
fn the_one_for_aarch64_serves() {
    let folder = tempfile::tempdir().expect("make a folder");
    // QEMU has an additional thread, and only a single-threaded process can drop privileges.
    let stay = ["--user", "root"];
    let server = Server::start(emulated(), &folder.path().join("key"), &stay);
    let run = measure(native(), &server, folder.path(), &short());
    check(&run, Direction::Down);
}

/// Returns the JSON output of a program, which must succeed.
fn json(mut program: Command, arguments: &[&str]) -> serde_json::Value {
    let output = program.args(arguments).output().expect("run the agent");
    let failed = || format!("{arguments:?}: {}", text(&output.stderr));
    assert!(output.status.success(), "{}", failed());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_one_for_aarch64_explains_plans_changes_and_collects_facts() {
    let [own, native_own] = [emulated(), native()].map(|mut program| {
        let output = program.arg("--version").output().expect("run the agent");
        text(&output.stdout)
    });
    assert_eq!(own, native_own);

    // Processor facts are from QEMU in one and from the host in the other; the kernel is the same.
    let facts = [emulated(), native()].map(|program| json(program, &["facts", "--output", "json"]));
    assert_eq!(facts[0]["arch"], "aarch64");
    assert_eq!(facts[0]["kernel"], facts[1]["kernel"]);

    // The present value comes from the kernel in both.
    let setting = ["--set", "net.ipv4.tcp_slow_start_after_idle=0"];
    let plan = ["tune", "plan", setting[0], setting[1], "--output", "json"];
    let plans = [emulated(), native()].map(|program| json(program, &plan));
    assert!(plans[0]["steps"][0].is_object(), "{}", plans[0]);
    assert_eq!(plans[0]["steps"], plans[1]["steps"]);

    let folder = tempfile::tempdir().expect("make a folder");
    let server = Server::start(native(), &folder.path().join("key"), &[]);
    let idle = "[[step]]\nkind = 'idle'\nduration_s = 1\n";
    let run = measure(emulated(), &server, folder.path(), idle);
    let file = folder.path().join("run.json");
    let bytes = serde_json::to_vec(&run).expect("as JSON");
    std::fs::write(&file, bytes).expect("write the run");
    let file = file.to_str().expect("a path");
    let explain = ["explain", file, "--output", "json"];
    let findings = [emulated(), native()].map(|program| json(program, &explain));
    assert_eq!(findings[0], findings[1]);
}

/// The output of both, which must succeed and say the same.
fn same(arguments: &[&str]) -> String {
    let said = [emulated(), native()].map(|mut program| {
        let output = program.args(arguments).output().expect("run the agent");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        text(&output.stdout)
    });
    assert_eq!(said[0], said[1], "{arguments:?}");
    said[0].clone()
}

#[test]
fn the_one_for_aarch64_prints_the_commands_of_a_change_and_compares_runs() {
    let set = ["--set", "net.ipv4.tcp_slow_start_after_idle=0"];
    let dry = ["tune", "apply", "--dry-run", set[0], set[1]];
    assert_eq!(
        same(&dry),
        "sysctl -w 'net.ipv4.tcp_slow_start_after_idle=0'\n"
    );
    for form in ["shell", "ansible", "nixos", "cloud-init"] {
        let said = same(&[&dry[..], &["--snippet", form]].concat());
        assert!(said.contains("tcp_slow_start_after_idle"), "{said}");
    }

    let folder = tempfile::tempdir().expect("make a folder");
    let server = Server::start(native(), &folder.path().join("key"), &[]);
    let idle = "[[step]]\nkind = 'idle'\nduration_s = 1\n";
    let files = ["a.json", "b.json"].map(|name| {
        let run = measure(emulated(), &server, folder.path(), idle);
        let file = folder.path().join(name);
        let bytes = serde_json::to_vec(&run).expect("as JSON");
        std::fs::write(&file, bytes).expect("write the run");
        file.to_str().expect("a path").to_owned()
    });
    let compared = same(&["compare", &files[0], &files[1], "--output", "json"]);
    assert!(compared.contains("\"lines\": ["), "{compared}");
}

/// Runs `iperf3 client` with a server of the other program; returns what the client said.
fn iperf3(mut server: Command, mut client: Command, arguments: &[&str]) -> serde_json::Value {
    let mut server = server
        .args(["iperf3", "server", "--listen", "127.0.0.1:0", "--once"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the server");
    let mut line = String::new();
    let mut said = BufReader::new(server.stderr.take().expect("its stderr"));
    said.read_line(&mut line).expect("read what it says");
    let address = line.trim().rsplit(' ').next().expect("an address");
    let client: Output = client
        .args(["iperf3", "client", address])
        .args(arguments)
        .args(["--output", "json"])
        .output()
        .expect("run the client");
    server.wait().expect("wait for the server");
    assert!(client.status.success(), "{}", text(&client.stderr));
    serde_json::from_slice(&client.stdout).expect("JSON")
}

#[test]
fn the_one_for_aarch64_is_either_end_of_iperf3() {
    for [server, client] in [[native, emulated], [emulated, native]] {
        for (arguments, direction) in [
            (&["-n", "1M"][..], "up"),
            (&["-n", "1M", "-R"], "down"),
            (&["-u", "-b", "4M", "-t", "1"], "up"),
        ] {
            let said = iperf3(server(), client(), arguments);
            let rate = said[direction]["goodput_mbps"].as_f64();
            assert!(rate.is_some_and(|rate| rate > 0.0), "{arguments:?}: {said}");
        }
    }
}

/// QEMU's user mode passes on netlink for routes only, and no program of another processor is
/// started by this kernel, as the keeper is: nothing is changed, and the reason is said.
#[test]
fn the_one_for_aarch64_changes_nothing_without_its_keeper_and_says_what_it_lacks() {
    if !common::is_root() || Path::new("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists() {
        println!("skipped: needs root, and a kernel that starts no programs for aarch64");
        return;
    }
    let folder = tempfile::tempdir().expect("make a folder");
    let agent = agent("aarch64");
    let lacks = |line: &str, reason: &str| {
        let program = format!(
            "ip link set lo up; ecn() {{ cat /proc/sys/net/ipv4/tcp_ecn; }}; before=$(ecn); \
             qemu-aarch64 {} {line}; status=$?; [ \"$(ecn)\" = \"$before\" ] && exit $status",
            agent.display()
        );
        let output = Command::new("unshare")
            .args(["--net", "sh", "-c", &program])
            .env("PATHTWIN_JOURNAL", folder.path().join("journal"))
            .output()
            .expect("run unshare");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{line}: {said}");
        assert!(said.contains(reason), "{line}: {said}");
    };
    lacks("tune apply --set net.ipv4.tcp_ecn=1", "keeper");
    lacks("tune plan --queue 'lo=pfifo limit=5'", "not supported");
    lacks("tune plan --offload 'lo=tso off'", "not supported");
    lacks("observe --duration 2s", "sock_diag");
}
