//! The far host behind a real server and a real client of ssh, which go over the measured path.

use crate::guest::{LOSSY, UNDO, in_lab};

/// The server is that of OpenWrt, the client OpenSSH's with its defaults. It starts in the
/// namespace of the far end by the program in place of ssh, which the client then replaces. Files
/// that the host's ssh_config includes, as in Debian 13, belong to a root that an ordinary user's
/// guest does not know, and are refused by the client. Older servers give root no search path for
/// tc.
const LOGINS: &str = r#"
mount -t tmpfs -o mode=700 none /root && mkdir -m 700 /root/.ssh
[ ! -d /etc/ssh ] || mount -t tmpfs none /etc/ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
dropbearkey -t ed25519 -f /tmp/host-key 2>&1 | sed -n 's/^ssh-/far &/p' >/root/.ssh/known_hosts
printf 'Host far\n HostName server\n HostKeyAlias far\n' >/root/.ssh/config
cat >/tmp/login <<'END'
#!/bin/sh
export PATH=/tmp/bin:$PATH:/usr/sbin:/sbin PATHTWIN_JOURNAL=/tmp/far
exec sh -c "$SSH_ORIGINAL_COMMAND"
END
chmod 700 /tmp/login
/tmp/ssh -o BatchMode=yes -- far 'dropbear -F -E -s -r /tmp/host-key -c /tmp/login 2>/tmp/log &'
until on far grep -q ":0016 .* 0A " /proc/net/tcp; do sleep 0.1; done
unset PATHTWIN_SSH
ln -sf $(command -v ssh) /tmp/ssh
"#;

/// True if both programs are installed.
fn is_possible() -> bool {
    let mut command = std::process::Command::new("sh");
    // Where Debian has dropbear, ordinary users have no search path.
    let script = "PATH=$PATH:/usr/sbin; command -v dropbear && command -v ssh";
    command.args(["-c", script]);
    let found = command.output().unwrap();
    if !found.status.success() {
        println!("skipped: dropbear or ssh is not installed");
    }
    found.status.success()
}

#[test]
fn a_far_host_is_changed_over_a_real_ssh_and_undone_without_a_trace() {
    if !is_possible() {
        return;
    }
    let fix = format!("{LOGINS}\n$fix server --yes --far-ssh far");
    let then = format!("{UNDO}\ngrep -c 'Pubkey auth succeeded' /tmp/log");
    let message = in_lab(LOSSY, &fix, &then);
    assert!(message.contains("code 0\n"), "{message}");
    assert!(message.contains("Kept: goodput"), "{message}");
    let changed = message.lines().filter(|line| line.starts_with("> "));
    let changed: Vec<&str> = changed.collect();
    assert!(
        changed.iter().any(|line| line.contains("congctl bbr")),
        "{message}"
    );
    assert!(message.contains("no trace"), "{message}");
    let logins = message.lines().find_map(|line| line.parse::<u32>().ok());
    assert!(logins.is_some_and(|n| n > 5), "{message}");
}

/// Nothing is measured, and the text says what is missing.
#[test]
fn a_login_that_asks_is_refused_before_anything_is_measured() {
    if !is_possible() {
        return;
    }
    let fix = format!(
        "{LOGINS}\nmv /root/.ssh/id_ed25519 /root\n$fix server --yes --far-ssh far; code=$?\n\
         mv /root/id_ed25519 /root/.ssh; (exit $code)"
    );
    let then = "diff /tmp/before /tmp/after && echo no difference";
    let message = in_lab(LOSSY, &fix, then);
    assert!(message.contains("code 3\n"), "{message}");
    assert!(message.contains("nothing was measured"), "{message}");
    let hint = "the login by ssh must work without a question";
    assert!(message.contains(hint), "{message}");
    assert!(message.contains("no difference"), "{message}");
}
