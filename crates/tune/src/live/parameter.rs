//! Kernel parameters.

use model::{
    change::{CONGESTION_CONTROL, Saved, Setting},
    prefix::Prefix,
    text,
    text::Text,
};
use sys::{module::Places, sysctl};

use super::module;
use crate::error::{HostError, Refusal, RefusalReason};

const AVAILABLE: &str = "net.ipv4.tcp_available_congestion_control";
const ALLOWED: &str = "net.ipv4.tcp_allowed_congestion_control";

/// Parameters whose change does not affect other parameters, by prefix of their name. `ip_forward`,
/// for example, resets many others (Documentation/networking/ip-sysctl.rst, Linux 6.12).
const INDEPENDENT: &[&str] = &[
    "net.ipv4.tcp_",
    "net.ipv4.udp_rmem_min",
    "net.ipv4.udp_wmem_min",
    "net.ipv4.udp_mem",
    "net.core.rmem_",
    "net.core.wmem_",
    "net.core.optmem_max",
    "net.core.somaxconn",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.dev_weight",
    "net.core.busy_poll",
    "net.core.busy_read",
];

/// Excluded parameters: secrets, lists with special rules, and read-only reports.
const NOT: &[&str] = &[
    "net.ipv4.tcp_fastopen_key",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_available_ulp",
    "net.ipv4.tcp_ehash_entries",
];

/// The value, and the parameters that change with it.
pub(super) fn read(name: &str) -> Result<Saved, HostError> {
    let allowed = match name == CONGESTION_CONTROL {
        true => Some(words(&sysctl::read(ALLOWED)?)),
        false => None,
    };
    let value = words(&sysctl::read(name)?);
    Ok(Saved::Parameter { value, allowed })
}

pub(super) fn check(
    setting: &Setting,
    name: &str,
    value: &str,
    old: &Saved,
) -> Result<Vec<Text>, Refusal> {
    let known = INDEPENDENT.iter().any(|prefix| name.starts_with(prefix));
    if !known || NOT.contains(&name) {
        return Err(Refusal::new(setting, RefusalReason::Dependent));
    }
    if !is_writable(name) {
        return Err(Refusal::new(setting, RefusalReason::ReadOnly));
    }
    if name == CONGESTION_CONTROL {
        return congestion(setting, value, old);
    }
    let Saved::Parameter { value: old, .. } = old else {
        return Ok(Vec::new());
    };
    let count = |text: &str| text.split_whitespace().count();
    if count(old) != count(value) {
        let reason = RefusalReason::ValueCount {
            has: count(old),
            given: count(value),
            now: old.clone(),
        };
        return Err(Refusal::new(setting, reason));
    }
    Ok(match name {
        "net.core.default_qdisc" => {
            vec![text!(
                "{setting}: it is for devices that are added or set up later",
                setting = name
            )]
        }
        _ => Vec::new(),
    })
}

/// In namespaces other than the initial one only allowed ones can be set, so the old one may not be
/// restorable (net/ipv4/tcp_cong.c: `tcp_set_default_congestion_control`, Linux 6.18).
fn congestion(setting: &Setting, value: &str, old: &Saved) -> Result<Vec<Text>, Refusal> {
    let list = |name| sysctl::read(name).unwrap_or_default();
    let has = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    available(setting, value)?;
    let Saved::Parameter { value: old, .. } = old else {
        return Ok(Vec::new());
    };
    let allowed = list(ALLOWED);
    if !is_writable(ALLOWED) {
        if !has(&allowed, value) {
            let reason = RefusalReason::NotAllowed {
                allowed: allowed.into(),
            };
            return Err(Refusal::new(setting, reason));
        }
        if !has(&allowed, old) {
            let old = old.clone();
            let reason = RefusalReason::NoWayBack {
                old,
                allowed: allowed.into(),
            };
            return Err(Refusal::new(setting, reason));
        }
    }
    let mut notes = vec![text!(
        "{setting}: only connections that this host opens or accepts from now on use it, and \
         none that it forwards",
        setting = CONGESTION_CONTROL
    )];
    notes.extend(forwards(setting, &[FORWARDS_IPV4, FORWARDS_IPV6]));
    Ok(notes)
}

/// Whether this host forwards packets (Documentation/networking/ip-sysctl.rst, Linux 6.18).
pub(super) const FORWARDS_IPV4: &str = "net.ipv4.ip_forward";
pub(super) const FORWARDS_IPV6: &str = "net.ipv6.conf.all.forwarding";

/// Why a congestion control has no effect on what goes through this host, if it forwards: it is a
/// router of that path.
pub fn without_effect_here(setting: &Setting) -> Option<Text> {
    match setting {
        Setting::Sysctl { name, .. } if name == CONGESTION_CONTROL => {
            forwards(setting, &[FORWARDS_IPV4, FORWARDS_IPV6])
        }
        Setting::RouteCongestionControl { to, .. } => forwards(setting, &[forwarding_of(*to)]),
        _ => None,
    }
}

/// The parameter by which a host forwards what goes to a prefix.
pub(super) fn forwarding_of(to: Prefix) -> &'static str {
    match to.address().is_ipv6() {
        true => FORWARDS_IPV6,
        false => FORWARDS_IPV4,
    }
}

/// Returns a note about a congestion control on a host that forwards, by these parameters.
pub(super) fn forwards(setting: &Setting, parameters: &[&str]) -> Option<Text> {
    let is_on = |name: &&&str| sysctl::read(name).is_ok_and(|value| value.trim() != "0");
    let name = parameters.iter().find(is_on)?;
    Some(text!(
        "{setting}: this host forwards packets ({parameter}), and a congestion control acts only \
         on connections that end at this host: set it at the hosts that send what is forwarded",
        setting = setting,
        parameter = *name
    ))
}

/// Refuses a congestion control that the kernel has neither at hand nor as a module: a step before
/// this one loads that.
pub(super) fn available(setting: &Setting, cc: &str) -> Result<(), Refusal> {
    let available = sysctl::read(AVAILABLE).unwrap_or_default();
    let is_loadable = || module::of_congestion_control(&Places::own(), cc).is_some();
    if available.split_whitespace().any(|word| word == cc) || is_loadable() {
        return Ok(());
    }
    let name = cc.to_owned();
    let reason = RefusalReason::NoCongestionControl {
        name,
        available: available.into(),
    };
    Err(Refusal::new(setting, reason))
}

pub(super) fn restore(setting: &Setting, name: &str, old: &Saved) -> Result<(), HostError> {
    let Saved::Parameter { value, allowed } = old else {
        return Err(HostError::unusable(setting));
    };
    if words(&sysctl::read(name)?) != *value {
        sysctl::write(name, value)?;
    }
    // The kernel added the new default to it.
    if let Some(allowed) = allowed {
        let now = words(&sysctl::read(ALLOWED)?);
        if now != *allowed && is_writable(ALLOWED) {
            sysctl::write(ALLOWED, allowed)?;
        }
    }
    Ok(())
}

/// Returns true if its file has write permission: host-wide parameters have none in other
/// namespaces.
fn is_writable(name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let file = std::path::Path::new("/proc/sys").join(name.replace('.', "/"));
    std::fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o200 != 0)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
