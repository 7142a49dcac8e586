//! Settings in the formats of other tools: shell, Ansible, NixOS, cloud-init.

use std::{collections::BTreeSet, fmt::Write};

use super::{Queue, Setting};

/// Format of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A shell script.
    Shell,
    /// Tasks of a play.
    Ansible,
    /// A module.
    NixOs,
    /// User data.
    CloudInit,
}

/// Name of the file or object that the text creates.
const NAME: &str = "pathtwin";

/// The settings in a form. All but the shell script also act after the next boot.
pub fn snippet(settings: &[Setting], form: Form) -> String {
    match form {
        Form::Shell => shell(settings),
        Form::Ansible => ansible(settings),
        Form::NixOs => nixos(settings),
        Form::CloudInit => cloud_init(settings),
    }
}

/// The modules that settings need, if they are not built into the kernel, in order of name.
pub fn modules(settings: &[Setting]) -> BTreeSet<String> {
    settings.iter().flat_map(of_setting).collect()
}

fn of_setting(setting: &Setting) -> Vec<String> {
    let cc = |name: &str| match name {
        // Never modules.
        "reno" | "cubic" => Vec::new(),
        other => vec![format!("tcp_{other}")],
    };
    let queue = |queue: &Queue| {
        let inside = match queue {
            Queue::Htb(htb) => Some(htb.queue.name()),
            _ => None,
        };
        let names = [Some(queue.name()), inside].into_iter().flatten();
        // These two are part of the kernel.
        let names = names.filter(|name| !matches!(*name, "pfifo" | "bfifo"));
        names.map(|name| format!("sch_{name}")).collect::<Vec<_>>()
    };
    if let Some(name) = setting.congestion_control() {
        return cc(name);
    }
    match setting {
        Setting::Module { name } => vec![name.clone()],
        Setting::Sysctl { name, value } if name == "net.core.default_qdisc" => {
            vec![format!("sch_{value}")]
        }
        Setting::Queue { queue: wanted, .. } => queue(wanted),
        Setting::Ingress { queue: wanted, .. } => {
            let mut all = queue(wanted);
            all.extend(["ifb", "cls_matchall", "act_mirred"].map(str::to_owned));
            all
        }
        _ => Vec::new(),
    }
}

/// Kernel parameters, and the commands for all else but [`modules`].
pub fn parts(settings: &[Setting]) -> (Vec<(&str, &str)>, Vec<String>) {
    let (mut parameters, mut commands) = (Vec::new(), Vec::new());
    for setting in settings {
        match setting {
            Setting::Sysctl { name, value } => parameters.push((name.as_str(), value.as_str())),
            Setting::Module { .. } => {}
            other => commands.extend(other.commands()),
        }
    }
    (parameters, commands)
}

fn shell(settings: &[Setting]) -> String {
    let mut out = "#!/bin/sh\n# As root. The settings end with the next boot.\nset -e\n".to_owned();
    for module in modules(settings) {
        let _ = writeln!(out, "modprobe {module} || true");
    }
    let is_module = |s: &&Setting| matches!(s, Setting::Module { .. });
    let others = settings.iter().filter(|s| !is_module(s));
    for command in others.flat_map(Setting::commands) {
        let _ = writeln!(out, "{command}");
    }
    out
}

/// A text in double quotes, as in JSON and YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A oneshot service that runs commands at boot.
fn unit(commands: &[String]) -> String {
    // The service manager would expand these itself.
    let escape = |command: &String| command.replace('%', "%%").replace('$', "$$");
    let lines: String = commands
        .iter()
        .map(|command| format!("ExecStart=/bin/sh -c {}\n", quoted(&escape(command))))
        .collect();
    format!(
        "[Unit]\nDescription=Network settings\nWants=network-online.target\n\
         After=network-online.target\n[Service]\nType=oneshot\nRemainAfterExit=yes\n{lines}\
         [Install]\nWantedBy=multi-user.target\n"
    )
}

fn indented(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    text.lines().map(|line| format!("{pad}{line}\n")).collect()
}

fn ansible(settings: &[Setting]) -> String {
    let (parameters, commands) = parts(settings);
    let mut out = String::new();
    for module in modules(settings) {
        let _ = write!(
            out,
            "- name: load {module}\n  community.general.modprobe:\n    name: {module}\n    \
             persistent: present\n  failed_when: false\n"
        );
    }
    for (name, value) in parameters {
        let _ = write!(
            out,
            "- name: set {name}\n  ansible.posix.sysctl:\n    name: {name}\n    value: {}\n    \
             sysctl_file: /etc/sysctl.d/98-{NAME}.conf\n",
            quoted(value)
        );
    }
    if !commands.is_empty() {
        let unit = indented(&unit(&commands), 6);
        let _ = write!(
            out,
            "- name: write a service for the network settings\n  ansible.builtin.copy:\n    \
             dest: /etc/systemd/system/{NAME}.service\n    content: |\n{unit}\
             - name: start it, now and at boot\n  ansible.builtin.systemd_service:\n    \
             name: {NAME}\n    daemon_reload: true\n    enabled: true\n    state: restarted\n"
        );
    }
    out
}

fn nixos(settings: &[Setting]) -> String {
    // `${` would begin an expression.
    let nix = |text: &str| quoted(text).replace("${", "\\${");
    let (parameters, commands) = parts(settings);
    let mut out = "{ pkgs, ... }:\n{\n".to_owned();
    let modules = modules(settings);
    if !modules.is_empty() {
        let names: Vec<String> = modules.iter().map(|name| nix(name)).collect();
        let _ = writeln!(out, "  boot.kernelModules = [ {} ];", names.join(" "));
    }
    for (name, value) in parameters {
        let _ = writeln!(out, "  boot.kernel.sysctl.{} = {};", nix(name), nix(value));
    }
    if !commands.is_empty() {
        // In a string between `''`, these and `${` are escaped differently.
        let escape = |command: &String| command.replace("''", "'''").replace("${", "''${");
        let all: String = commands
            .iter()
            .map(|c| format!("      {}\n", escape(c)))
            .collect();
        let _ = write!(
            out,
            "  systemd.services.{NAME} = {{\n    wantedBy = [ \"multi-user.target\" ];\n    \
             wants = [ \"network-online.target\" ];\n    after = [ \"network-online.target\" ];\n    \
             path = with pkgs; [ iproute2 ethtool nftables procps ];\n    serviceConfig = {{ Type = \
             \"oneshot\"; RemainAfterExit = true; }};\n    script = ''\n{all}    '';\n  }};\n"
        );
    }
    out.push_str("}\n");
    out
}

fn cloud_init(settings: &[Setting]) -> String {
    let (parameters, commands) = parts(settings);
    let mut files = String::new();
    let mut file = |path: &str, text: &str| {
        let _ = write!(
            files,
            "  - path: {path}\n    content: |\n{}",
            indented(text, 6)
        );
    };
    let mut run = Vec::new();
    let modules = modules(settings);
    if !modules.is_empty() {
        let names: Vec<String> = modules.into_iter().collect();
        file(
            &format!("/etc/modules-load.d/{NAME}.conf"),
            &names.join("\n"),
        );
        run.push("systemctl restart systemd-modules-load || true".to_owned());
    }
    if !parameters.is_empty() {
        let lines: String = parameters
            .iter()
            .map(|(name, value)| format!("{name} = {value}\n"))
            .collect();
        let path = format!("/etc/sysctl.d/98-{NAME}.conf");
        file(&path, &lines);
        run.push(format!("sysctl -p {path}"));
    }
    if !commands.is_empty() {
        file(
            &format!("/etc/systemd/system/{NAME}.service"),
            &unit(&commands),
        );
        run.push(format!(
            "systemctl daemon-reload && systemctl enable --now {NAME}"
        ));
    }
    let run: String = run
        .iter()
        .map(|line| format!("  - {}\n", quoted(line)))
        .collect();
    format!("#cloud-config\nwrite_files:\n{files}runcmd:\n{run}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::parse::Scope;

    fn settings() -> Vec<Setting> {
        vec![
            Setting::parse_set("cc=bbr", Scope::Host).unwrap(),
            Setting::parse_set("net.ipv4.tcp_rmem=4096 131072 6291456", Scope::Host).unwrap(),
            Setting::parse_shape("eth0=47.5mbit fq_codel").unwrap(),
            Setting::parse_shape_ingress("eth0=95mbit").unwrap(),
        ]
    }

    #[test]
    fn modules_are_those_of_congestion_controls_and_queues() {
        let all: Vec<String> = modules(&settings()).into_iter().collect();
        let expected = [
            "act_mirred",
            "cls_matchall",
            "ifb",
            "sch_cake",
            "sch_fq_codel",
            "sch_htb",
            "tcp_bbr",
        ];
        assert_eq!(all, expected);
        let cubic = Setting::parse_set("cc=cubic", Scope::Host).unwrap();
        assert!(modules(&[cubic]).is_empty());
    }

    /// A service file with an unescaped `$(…)` would make the service manager look for a variable
    /// of that name.
    #[test]
    fn a_service_file_leaves_expansion_to_the_shell() {
        let text = snippet(&settings(), Form::CloudInit);
        assert!(
            text.contains("pt-ifb$$(cat /sys/class/net/eth0/ifindex)"),
            "{text}"
        );
        let text = snippet(&settings(), Form::NixOs);
        assert!(
            text.contains("pt-ifb$(cat /sys/class/net/eth0/ifindex)"),
            "{text}"
        );
        assert!(
            text.contains(r#"boot.kernel.sysctl."net.ipv4.tcp_rmem" = "4096 131072 6291456";"#)
        );
    }

    #[test]
    fn every_form_has_every_setting() {
        for form in [Form::Shell, Form::Ansible, Form::NixOs, Form::CloudInit] {
            let text = snippet(&settings(), form);
            for part in ["tcp_bbr", "tcp_rmem", "htb rate 47.5mbit", "matchall"] {
                assert!(
                    text.contains(part),
                    "{form:?}: {part} is missing in\n{text}"
                );
            }
        }
    }
}
