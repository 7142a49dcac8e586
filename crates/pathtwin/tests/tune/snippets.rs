//! Texts for other tools: each has the settings, and nothing is changed.

use std::{path::Path, process::Command};

use serde_json::Value;

use super::{
    ECN,
    common::{pathtwin, text},
    ecn, namespace, tune,
};

/// The text of a form, for a parameter and a queue.
fn snippet(journal: &Path, form: &str) -> String {
    let queue = ["--queue", "lo=pfifo limit=5", "--dry-run", "--snippet"];
    let words = [&["apply"], &ECN[..], &queue, &[form]].concat();
    let before = ecn();
    let (code, out) = tune(journal, &words);
    assert_eq!(code, Some(0), "{form}: {out}");
    assert_eq!(ecn(), before, "{form}");
    assert!(!journal.exists(), "{form}: a journal of nothing");
    out
}

fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    text(&output.stdout)
}

/// The document as a parser of YAML reads it; `None` without one.
fn yaml(folder: &Path, form: &str) -> Option<Value> {
    let file = folder.join(form);
    std::fs::write(&file, snippet(&folder.join("journal"), form)).unwrap();
    let program = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let line = format!("python3 -c '{program}' {}", file.display());
    let has_parser = Command::new("python3").args(["-c", "import yaml"]).output();
    if !has_parser.is_ok_and(|output| output.status.success()) {
        println!("skipped: {form} needs python3 with yaml");
        return None;
    }
    Some(serde_json::from_str(&sh(&line)).unwrap())
}

#[test]
fn the_shell_script_sets_what_it_was_asked_for() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = snippet(&folder.path().join("journal"), "shell");
    assert!(script.starts_with("#!/bin/sh\n"), "{script}");
    sh(&script);
    assert_eq!(ecn(), "1\n");
    let queue = sh("tc qdisc show dev lo");
    assert!(
        queue.contains("pfifo") && queue.contains("limit 5p"),
        "{queue}"
    );
}

#[test]
fn the_ansible_tasks_are_a_list_with_a_parameter_and_a_service() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(tasks) = yaml(folder.path(), "ansible") else {
        return;
    };
    let tasks = tasks.as_array().unwrap();
    let of = |module: &str| tasks.iter().find_map(|task| task.get(module)).unwrap();
    let parameter = of("ansible.posix.sysctl");
    assert_eq!(parameter["name"], "net.ipv4.tcp_ecn");
    assert_eq!(parameter["value"], "1", "a text, as the module requires");
    let unit = of("ansible.builtin.copy")["content"].as_str().unwrap();
    assert!(
        unit.contains("tc qdisc replace dev lo root pfifo limit 5"),
        "{unit}"
    );
    assert_eq!(of("ansible.builtin.systemd_service")["enabled"], true);
}

/// Where Ansible sets the parameter in `/etc`, here in a separate `/etc/sysctl.d`.
#[test]
fn a_change_of_what_ansible_manages_is_printed_as_its_tasks_and_not_written() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let script = r#"
        mount -t tmpfs none /etc/sysctl.d
        printf '# Ansible managed\nnet.ipv4.tcp_ecn = 0\n' >/etc/sysctl.d/10-net.conf
        "$1" tune apply --set net.ipv4.tcp_ecn=1 --journal "$2" >/dev/null
        "$1" tune confirm --persist --journal "$2"
        echo "code $?"
        ls /etc/sysctl.d"#;
    let output = Command::new("unshare")
        .args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .arg(pathtwin().get_program())
        .arg(&journal)
        .output()
        .unwrap();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    if !Path::new("/etc/systemd/system").exists() {
        println!("skipped: needs a host with systemd");
        return;
    }
    let (tasks, rest) = out.split_once("code 3\n").expect(&errors);
    assert!(tasks.contains("ansible.posix.sysctl"), "{out}{errors}");
    assert_eq!(rest, "10-net.conf\n");
    assert!(
        errors.contains("/etc/sysctl.d/10-net.conf is managed by Ansible"),
        "{errors}"
    );
    let (_, list) = tune(&journal, &["list"]);
    let (id, _) = list.split_once(' ').unwrap();
    assert_eq!(tune(&journal, &["undo", id]).0, Some(0), "{list}");
    assert_eq!(ecn(), before);
}

#[test]
fn the_user_data_of_cloud_init_writes_files_and_loads_them() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = snippet(&folder.path().join("journal"), "cloud-init");
    assert!(text.starts_with("#cloud-config\n"), "{text}");
    let Some(document) = yaml(folder.path(), "cloud-init") else {
        return;
    };
    let files = document["write_files"].as_array().unwrap();
    let content = |end: &str| {
        let is = |file: &&Value| file["path"].as_str().unwrap().ends_with(end);
        files.iter().find(is).unwrap()["content"].as_str().unwrap()
    };
    assert_eq!(content("98-pathtwin.conf"), "net.ipv4.tcp_ecn = 1\n");
    let unit = content("pathtwin.service");
    assert!(
        unit.contains("tc qdisc replace dev lo root pfifo limit 5"),
        "{unit}"
    );
    let run = document["runcmd"].as_array().unwrap();
    assert_eq!(run.len(), 2, "{run:?}");
}

/// Evaluated by nix if it is there; otherwise the attributes are looked for.
#[test]
fn the_module_of_nixos_has_the_parameter_and_the_service() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = snippet(&folder.path().join("journal"), "nixos");
    assert!(
        text.contains(r#"boot.kernel.sysctl."net.ipv4.tcp_ecn" = "1";"#),
        "{text}"
    );
    assert!(text.contains("systemd.services.pathtwin = {"), "{text}");
    assert!(
        text.contains("tc qdisc replace dev lo root pfifo limit 5"),
        "{text}"
    );
    for [open, close] in [["{", "}"], ["[", "]"]] {
        assert_eq!(text.matches(open).count(), text.matches(close).count());
    }
    assert_eq!(text.matches("''").count(), 2, "{text}");
    let file = folder.path().join("module.nix");
    std::fs::write(&file, &text).unwrap();
    match Command::new("nix-instantiate")
        .arg("--parse")
        .arg(&file)
        .output()
    {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => println!("skipped: parsed by no nix"),
    }
}
