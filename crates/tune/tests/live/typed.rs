//! What a dry run and the snippets print, executed as a person would: it leaves the host as the
//! change itself does, by dumps of everything.

use std::{collections::BTreeSet, io::Write, process::Stdio};

use model::change::snippet::{Form, snippet};
use serde_json::Value;

use super::{reversal::scene, *};

/// Numbers of the values, and the queue of the device before.
const SEED: u64 = 6001;

/// Settings that can be made together, and the queue of their host before.
struct Group {
    before: &'static str,
    settings: Vec<Setting>,
}

/// A queue, and the one before it: of the same kind, with options that it must not keep; or none.
/// `tc` rounds a burst down to a microsecond of the rate (tc/tc_core.c), so a millisecond of each
/// rate is a whole number of bytes.
const QUEUES: [(&str, &str); 7] = [
    ("pfifo limit=5", "handle 7: pfifo limit 77"),
    ("bfifo limit=9000", "handle 7: bfifo limit 90000"),
    (
        "fq_codel target=9ms limit=900",
        "handle 7: fq_codel target 7ms memory_limit 1mb noecn",
    ),
    ("fq flow_limit=150", "handle 7: fq limit 90 maxrate 900mbit"),
    (
        "cake bandwidth=30mbit ingress=on",
        "handle 7: cake rtt 50ms overhead 20",
    ),
    (
        "htb rate=30mbit queue=fq_codel",
        "handle 1: htb default 7 r2q 20",
    ),
    ("htb rate=48mbit queue=fq", ""),
];

/// A new host, the same each time; with a queue, or by default that of the seed.
fn host(before: &str) {
    Netns::create().and_then(|ns| ns.enter()).unwrap();
    // Shows the devices of the namespace that it is mounted in.
    sh("umount /sys; mount -t sysfs sysfs /sys");
    scene::set_up(&mut scene::Random(SEED));
    if !before.is_empty() {
        let _ = scene::sh("tc qdisc del dev v0 root");
        sh(&format!("tc qdisc add dev v0 root {before}"));
    }
}

/// Settings of each kind that this kernel has, in groups that can be made together: a device has
/// one root queue.
fn groups() -> Vec<Group> {
    host("");
    let mut others = scene::choices(&mut scene::Random(SEED));
    others.retain(|setting| !matches!(setting, Setting::Queue { .. }));
    let mut groups = vec![Group {
        before: "",
        settings: others,
    }];
    groups.extend(QUEUES.map(|(queue, before)| Group {
        before,
        settings: vec![Setting::parse_queue(&format!("v0={queue}")).unwrap()],
    }));
    groups.retain_mut(|group| {
        group.settings.retain(is_possible);
        !group.settings.is_empty()
    });
    groups
}

/// Returns true if this kernel has a setting, the host another value, and its programs are there.
fn is_possible(setting: &Setting) -> bool {
    let lacking = lacking(&setting.commands().join("\n"));
    if !lacking.is_empty() {
        println!("skipped: {setting} needs {lacking:?}");
        return false;
    }
    match planned(std::slice::from_ref(setting)) {
        Ok(plan) => !plan.steps.is_empty(),
        Err(refused) => {
            println!("left out: {refused}");
            false
        }
    }
}

/// The settings of a plan, in its order.
fn steps(group: &Group) -> Vec<Setting> {
    host(group.before);
    let steps = planned(&group.settings).unwrap().steps;
    steps.into_iter().map(|step| step.setting).collect()
}

/// A dump in which numbers from counters of the kernel are not told apart,
/// nor random addresses of intermediate devices.
fn dump() -> String {
    let number = |word: &str| {
        let is_random = word.len() == 17 && word.matches(':').count() == 5;
        let is_own = word.starts_with("02:00:00:") || word.starts_with("fe80::ff:fe00:");
        match word {
            _ if scene::is_chosen(word) => "8nnn:".to_owned(),
            "ff:ff:ff:ff:ff:ff" => word.to_owned(),
            _ if is_random && !is_own => "MAC".to_owned(),
            _ if word.starts_with("fe80::") && !is_own => "LOCAL".to_owned(),
            _ => word.to_owned(),
        }
    };
    let line = |line: &str| {
        let words: Vec<String> = line.split(' ').map(number).collect();
        words.join(" ") + "\n"
    };
    scene::dump().lines().map(line).collect()
}

/// The state of a new host after settings were applied by a change.
fn changed(group: &Group) -> String {
    host(group.before);
    let mut after = String::new();
    let _ = applied(&group.settings, || after = dump());
    after
}

/// Programs that a command line needs and this host lacks.
fn lacking(text: &str) -> BTreeSet<&'static str> {
    let needed = ["ethtool", "nft", "tc", "ip", "sysctl", "python3"];
    let is_lacking = |program: &&str| {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| word == *program)
            && !is_there(&format!("command -v {program}"))
    };
    needed.into_iter().filter(is_lacking).collect()
}

fn is_there(line: &str) -> bool {
    let ran = Command::new("sh").args(["-c", line]).output();
    ran.is_ok_and(|ran| ran.status.success())
}

fn run(shell: &str, text: &str) {
    let words: Vec<&str> = shell.split(' ').collect();
    let mut command = Command::new(words[0]);
    let output = command
        .args(&words[1..])
        .args(["-ec", text])
        .output()
        .unwrap();
    assert!(output.status.success(), "{shell}: {text}: {output:?}");
}

fn same(what: &str, typed: &str, changed: &str) {
    assert!(
        typed == changed,
        "{what}:\n{}",
        scene::difference(changed, typed)
    );
}

#[test]
fn the_commands_of_a_dry_run_do_what_the_change_does() {
    if !in_own_process("typed::the_commands_of_a_dry_run_do_what_the_change_does") {
        return;
    }
    let mut count = 0;
    for group in groups() {
        let steps = steps(&group);
        let before = dump();
        let commands: Vec<String> = steps.iter().flat_map(Setting::commands).collect();
        let changed = changed(&group);
        assert!(changed != before, "{steps:?}: it changes nothing");
        for shell in shells() {
            host(group.before);
            run(shell, &commands.join("\n"));
            let what = format!("{shell}: {commands:#?} over {:?}", group.before);
            same(&what, &dump(), &changed);
        }
        count += steps.len();
    }
    println!("{count} settings typed");
    assert!(count > 4);
}

/// The guest's kernel has every queue.
#[test]
fn the_commands_of_a_dry_run_do_so_in_the_guest_too() {
    in_guest("typed::the_commands_of_a_dry_run_do_what_the_change_does");
}

/// The script as it is; of the others, the commands and parameters in them.
#[test]
fn snippets_do_what_the_change_does() {
    if !in_own_process("typed::snippets_do_what_the_change_does") {
        return;
    }
    let mut group = groups().swap_remove(0);
    let queue = Setting::parse_queue("v0=pfifo limit=5").unwrap();
    group.settings.push(queue);
    group.before = "handle 7: pfifo limit 77";
    let steps = steps(&group);
    let changed = changed(&group);
    let script = snippet(&steps, Form::Shell);
    for shell in shells() {
        host(group.before);
        run(shell, &script);
        same(&format!("{shell}: {script}"), &dump(), &changed);
        let left: Vec<Setting> = planned(&group.settings)
            .map(|plan| plan.steps.into_iter().map(|step| step.setting).collect())
            .unwrap_or_default();
        // A queue of the same kind may have other options, which are not compared.
        assert!(
            left.iter().all(|s| matches!(s, Setting::Queue { .. })),
            "{left:?}"
        );
    }
    for (form, lines) in [
        (Form::Ansible, of_ansible as fn(&Value) -> Vec<String>),
        (Form::CloudInit, of_cloud_init),
    ] {
        let Some(document) = yaml(&snippet(&steps, form)) else {
            println!("skipped: {form:?} needs python3 with yaml");
            continue;
        };
        host(group.before);
        for line in lines(&document) {
            run("sh", &line);
        }
        same(&format!("{form:?}: {document}"), &dump(), &changed);
    }
}

/// A text as a parser of YAML reads it.
fn yaml(text: &str) -> Option<Value> {
    let program = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))";
    if !is_there("python3 -c 'import yaml'") {
        return None;
    }
    let mut child = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "no YAML: {text}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn of_ansible(tasks: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for task in tasks.as_array().unwrap() {
        assert!(task["name"].is_string(), "{task}");
        let parameter = &task["ansible.posix.sysctl"];
        if let Some(name) = parameter["name"].as_str() {
            let value = parameter["value"].as_str().unwrap();
            all.push(format!("sysctl -w '{name}={value}'"));
        }
        if let Some(unit) = task["ansible.builtin.copy"]["content"].as_str() {
            all.extend(of_service(unit));
        }
    }
    all
}

fn of_cloud_init(document: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for file in document["write_files"].as_array().unwrap() {
        let (path, text) = (
            file["path"].as_str().unwrap(),
            file["content"].as_str().unwrap(),
        );
        if path.ends_with(".service") {
            all.extend(of_service(text));
        } else if path.starts_with("/etc/sysctl.d/") {
            let load = format!("sysctl -p {path}");
            let run = document["runcmd"].as_array().unwrap();
            assert!(run.iter().any(|line| line == &load), "{run:?}");
            // Its text instead of the file.
            all.push(format!("sysctl -p - <<'END'\n{text}END"));
        }
    }
    all
}

/// The commands of a service, as the service manager expands them (systemd.service(5)).
fn of_service(unit: &str) -> Vec<String> {
    let lines = unit.lines();
    let quoted = lines.filter_map(|line| line.strip_prefix("ExecStart=/bin/sh -c "));
    let expanded = quoted.map(|text| {
        let text: String = serde_json::from_str(text).unwrap();
        text.replace("$$", "$").replace("%%", "%")
    });
    expanded.collect()
}
