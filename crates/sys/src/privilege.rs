//! Giving up root, for good, once a service has opened what needs it.
//!
//! On Linux each thread has its own identity and capabilities (credentials(7)); the wrappers that
//! make all threads agree do so for identities only. So this runs while there is one thread, and
//! says no when there are more.

use std::{fs, io};

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_keep_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// User and group that own nothing, on every Linux (`overflowuid`,
/// Documentation/admin-guide/sysctl/fs.rst).
const NOBODY: u32 = 65534;

/// Whom a service becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// User.
    pub uid: u32,
    /// Group; there are no others.
    pub gid: u32,
}

impl Identity {
    /// The user that owns nothing.
    pub const NOBODY: Identity = Identity {
        uid: NOBODY,
        gid: NOBODY,
    };

    /// A user of /etc/passwd by name, with the group that is noted there; users of a directory
    /// service are not found. `nobody` exists also where the file does not say so.
    ///
    /// # Errors
    /// No such user, or it is root.
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

/// Why root was not given up.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// The name is not known.
    #[error("no user {0} in /etc/passwd; name one that is there, or nobody")]
    NoUser(String),
    /// The name is root's.
    #[error("user {0} is root; name one that is not, or nobody")]
    Root(String),
    /// Threads that would keep it.
    #[error("{0} threads run; privilege must be given up before the second one starts")]
    Threads(usize),
    /// The kernel refused a step.
    #[error("cannot {0}: {1}")]
    Refused(&'static str, io::Error),
    /// It is still there.
    #[error("privilege was given up and is still there: {0}")]
    Kept(&'static str),
}

/// Capabilities that may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None.
    Nothing,
    /// `CAP_NET_ADMIN`, if there is one to keep: congestion control and buffers of one's own
    /// sockets beyond what the host allows everybody. It also is the power to set up links, routes
    /// and firewalls in the network namespace.
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

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Whether `CAP_NET_ADMIN` was there and was kept.
    pub net_admin: bool,
}

/// Gives up all that `keep` does not name, and any way to get it back: becomes `identity` if this
/// is root, drops the capabilities, and lets no program that is started from here gain any
/// (`PR_SET_NO_NEW_PRIVS`). A process that is not root stays who it is.
///
/// # Errors
/// More than one thread runs; a step is refused; something is left that should not be. After an
/// error the process must not go on: it may be anywhere between the two.
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

/// Whether this thread may administer the network of its namespace: then its sockets may have every
/// congestion control that is there, and not only the allowed ones (net/ipv4/tcp_cong.c,
/// `tcp_set_congestion_control`, 6.1).
pub fn has_net_admin() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::NET_ADMIN))
}

fn become_other(identity: Identity, keep: bool) -> Result<(), PrivilegeError> {
    let (uid, gid) = (Uid::from_raw(identity.uid), Gid::from_raw(identity.gid));
    step("keep a capability", set_keep_capabilities(keep))?;
    // The groups first: without root they can no longer be changed.
    step("leave the other groups", set_thread_groups(&[]))?;
    step("change the group", set_thread_res_gid(gid, gid, gid))?;
    step("change the user", set_thread_res_uid(uid, uid, uid))?;
    step("end keeping capabilities", set_keep_capabilities(false))
}

/// Kernels before 4.3 have none.
fn drop_ambient() -> rustix::io::Result<()> {
    match clear_ambient_capability_set() {
        Err(rustix::io::Errno::INVAL) => Ok(()),
        result => result,
    }
}

/// That the way back is closed is seen by trying it.
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
