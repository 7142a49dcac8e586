//! Permanent dropping of root privileges, after a service has opened its ports.
//!
//! On Linux each thread has its own identity and capabilities (credentials(7)); libc's wrappers
//! synchronise only identities across threads. Therefore this must run while the process has a
//! single thread, and fails otherwise.

use std::{fs, io};

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_keep_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// Unprivileged user and group on every Linux (`overflowuid`,
/// Documentation/admin-guide/sysctl/fs.rst).
const NOBODY: u32 = 65534;

/// Identity of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// User.
    pub uid: u32,
    /// Group, without supplementary groups.
    pub gid: u32,
}

impl Identity {
    /// The unprivileged user.
    pub const NOBODY: Identity = Identity {
        uid: NOBODY,
        gid: NOBODY,
    };

    /// A user of /etc/passwd by name, with its primary group; users of directory services are not
    /// found. `nobody` always exists.
    ///
    /// # Errors
    /// The user does not exist, or is root.
    pub fn of(name: &str) -> Result<Identity, PrivilegeError> {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = find(&users, name).or((name == "nobody").then_some(Identity::NOBODY));
        let identity = found.ok_or_else(|| PrivilegeError::NoUser(name.to_owned()))?;
        if identity.uid == 0 {
            return Err(PrivilegeError::Root(name.to_owned()));
        }
        Ok(identity)
    }
}

/// `name:password:uid:gid:…` (passwd(5)).
fn find(users: &str, name: &str) -> Option<Identity> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let mut numbers = fields.skip(1).map(|f| f.parse().ok());
        Some(Identity {
            uid: numbers.next()??,
            gid: numbers.next()??,
        })
    })
}

/// Error of dropping privileges.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// The name is unknown.
    #[error("no user {0} in /etc/passwd; use an existing one, or nobody")]
    NoUser(String),
    /// The name is root's.
    #[error("user {0} is root; use another one, or nobody")]
    Root(String),
    /// Other threads, which would keep privileges.
    #[error("{0} threads run; privileges must be dropped before a second one starts")]
    Threads(usize),
    /// The kernel rejected a step.
    #[error("cannot {0}: {1}")]
    Refused(&'static str, io::Error),
    /// Privileges remain.
    #[error("privileges remain after dropping them: {0}")]
    Kept(&'static str),
}

/// Capabilities to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None.
    Nothing,
    /// `CAP_NET_ADMIN`, if available: congestion controls and socket buffers beyond the limits for
    /// unprivileged users. It also permits changing links, routes and firewalls in the network
    /// namespace.
    NetAdmin,
}

impl Keep {
    fn set(self) -> CapabilitySet {
        match self {
            Keep::Nothing => CapabilitySet::empty(),
            Keep::NetAdmin => CapabilitySet::NET_ADMIN,
        }
    }
}

/// Remaining privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// True if `CAP_NET_ADMIN` was kept.
    pub net_admin: bool,
}

/// Drops all privileges except `keep` permanently: switches to `identity` if this is root, drops
/// the capabilities, and prevents child processes from gaining any (`PR_SET_NO_NEW_PRIVS`). A
/// process without root keeps its identity.
///
/// # Errors
/// More than one thread is running, a step fails, or privileges remain. After an error the process
/// must not continue, because its state is undefined.
pub fn give_up(identity: Identity, keep: Keep) -> Result<Left, PrivilegeError> {
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(PrivilegeError::Threads(threads));
    }
    let before = step("read the capabilities", capabilities(None))?.permitted;
    let kept = keep.set() & before;
    if geteuid().is_root() {
        become_other(identity, !kept.is_empty())?;
    }
    step("drop ambient capabilities", drop_ambient())?;
    let sets = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    step("drop capabilities", set_capabilities(None, sets))?;
    step("forbid new privileges", set_no_new_privs(true))?;
    check(kept)
}

/// Returns true if this thread has CAP_NET_ADMIN in its namespace: then its sockets may use every
/// available congestion control instead of only the allowed ones (net/ipv4/tcp_cong.c,
/// `tcp_set_congestion_control`, 6.1).
pub fn has_net_admin() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::NET_ADMIN))
}

/// Returns true if this thread may load and remove modules of the kernel: CAP_SYS_MODULE in the
/// first user namespace (kernel/module/main.c: `may_init_module`, Linux 6.18). In another one it
/// does not count, which only a first attempt shows.
pub fn has_sys_module() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_MODULE))
}

fn become_other(identity: Identity, keep: bool) -> Result<(), PrivilegeError> {
    let (uid, gid) = (Uid::from_raw(identity.uid), Gid::from_raw(identity.gid));
    step("keep a capability", set_keep_capabilities(keep))?;
    // Groups first: they cannot be changed without root.
    step("drop supplementary groups", set_thread_groups(&[]))?;
    step("change the group", set_thread_res_gid(gid, gid, gid))?;
    step("change the user", set_thread_res_uid(uid, uid, uid))?;
    step("end keeping capabilities", set_keep_capabilities(false))
}

/// Not available before 4.3.
fn drop_ambient() -> rustix::io::Result<()> {
    match clear_ambient_capability_set() {
        Err(rustix::io::Errno::INVAL) => Ok(()),
        result => result,
    }
}

/// Verifies by trying that privileges cannot be regained.
fn check(kept: CapabilitySet) -> Result<Left, PrivilegeError> {
    let root = Uid::ROOT;
    if geteuid().is_root() || set_thread_res_uid(root, root, root).is_ok() {
        return Err(PrivilegeError::Kept("the user is root, or can be again"));
    }
    let left = step("read the capabilities", capabilities(None))?;
    if left.permitted != kept || left.effective != kept || !left.inheritable.is_empty() {
        return Err(PrivilegeError::Kept("capabilities"));
    }
    Ok(Left {
        net_admin: kept.contains(CapabilitySet::NET_ADMIN),
    })
}

fn step<T>(what: &'static str, result: rustix::io::Result<T>) -> Result<T, PrivilegeError> {
    result.map_err(|e| PrivilegeError::Refused(what, e.into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\n\
                         broken:x:one:2::/:\n\
                         short:x\n\
                         pathtwin:x:991:992:pathtwin:/nonexistent:/usr/sbin/nologin\n";

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let expected = Identity { uid: 991, gid: 992 };
        assert_eq!(find(USERS, "pathtwin"), Some(expected));
        for name in ["path", "pathtwin:x", "broken", "short", ""] {
            assert_eq!(find(USERS, name), None, "{name}");
        }
    }

    #[test]
    fn root_is_nobody_to_become() {
        assert!(matches!(Identity::of("root"), Err(PrivilegeError::Root(_))));
        assert!(matches!(
            Identity::of("no such user"),
            Err(PrivilegeError::NoUser(_))
        ));
        assert_eq!(Identity::of("nobody").unwrap().uid, NOBODY);
    }
}
