//! Changes that cut a host off although its sessions live on: each is noticed before it is kept.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

use model::capacity::LineCapacity;
use tune::CONNECTIVITY;

use super::*;

const TARGET: &str = "10.1.0.2:7777";

/// The other end of the line as a separate host, with a session to it.
struct Far {
    ns: Netns,
    session: TcpStream,
    accepted: TcpStream,
    _listener: TcpListener,
}

impl Far {
    /// `None` where the test does not run. `line` sets devices up further.
    fn new(line: &str) -> Option<Self> {
        if !scene() {
            return None;
        }
        let ns = other_host();
        let listener = ns.run(|| {
            sh("ip addr add 10.1.0.2/24 dev v1 && ip link set v1 up");
            TcpListener::bind(TARGET).unwrap()
        });
        let listener = listener.unwrap();
        sh(line);
        let session = TcpStream::connect(TARGET).unwrap();
        let accepted = listener.accept().unwrap().0;
        let limit = Some(Duration::from_secs(5));
        session.set_read_timeout(limit).unwrap();
        accepted.set_read_timeout(limit).unwrap();
        Some(Self {
            ns,
            session,
            accepted,
            _listener: listener,
        })
    }

    /// Sends a line in both directions over the session, as a user types.
    fn is_alive(&mut self) -> bool {
        let mut got = [0; 2];
        self.session.write_all(b"ls").is_ok()
            && self.accepted.read_exact(&mut got).is_ok()
            && self.accepted.write_all(&got).is_ok()
            && self.session.read_exact(&mut got).is_ok()
    }
}

/// Applies settings with a probe of the far host; it must not be possible to confirm them, while
/// the session lives on.
fn breaks_new_connections_only(far: &mut Far, setting: Setting) {
    assert!(far.is_alive());
    let rollback = applied_with_probe(&[setting], &[TARGET], |env| {
        assert!(far.is_alive(), "an established session survives");
        // Small packets pass.
        TcpStream::connect(TARGET).unwrap();
        let kept = tune::confirm(env, None, &mut NewFlows);
        let Err(TuneError::ProbeAfter { error, .. }) = kept else {
            panic!("{kept:?}");
        };
        assert!(error.to_string().contains("not acknowledged"), "{error}");
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert!(far.is_alive());
    NewFlows.connect(TARGET).unwrap();
}

/// The handshake of ssh hangs at its first large packet, while the old session types on.
#[test]
fn a_tunnel_mtu_above_that_of_its_path_is_not_confirmed() {
    // The far end promises larger packets than its device takes: a receiver discards them without
    // a message (net/core/dev.c: `__dev_forward_skb2`, Linux 6.18), like a line below a tunnel.
    let Some(mut far) = Far::new("ip link set v0 mtu 1300") else {
        return;
    };
    let small = far.ns.run(|| {
        sh("ip link set v1 mtu 1300 && ip route replace 10.1.0.1 dev v1 advmss 1460");
    });
    small.unwrap();
    breaks_new_connections_only(&mut far, Setting::parse_mtu("v0=1500").unwrap());
}

/// `net.ipv4.tcp_min_snd_mss` above the MTU: sockets that exist keep their segment size.
#[test]
fn a_parameter_of_tcp_that_breaks_new_connections_only_is_not_confirmed() {
    let Some(mut far) = Far::new("true") else {
        return;
    };
    let too_large = sysctl("net.ipv4.tcp_min_snd_mss=3000");
    breaks_new_connections_only(&mut far, too_large);
}

/// A larger MTU without a probe is noted: nothing would notice that large packets are lost.
#[test]
fn a_larger_mtu_without_a_probe_is_noted() {
    if !scene() {
        return;
    }
    let warns = |mtu: &str, probes: &[&str]| {
        let plan = planned_with(&[Setting::parse_mtu(mtu).unwrap()], probes).unwrap();
        let all: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
        all.join("\n").contains("large packets")
    };
    assert!(warns("v0=1600", &[]));
    assert!(!warns("v0=1400", &[]));
    assert!(!warns("v0=1600", &[TARGET]));
}

/// A rate in kbit/s given as Mbit/s starves the sessions of the user too.
#[test]
fn a_shaper_far_below_the_measured_capacity_is_refused_unless_forced() {
    if !scene() {
        return;
    }
    let shaped = |rate: &str, force: bool| {
        let request = Request {
            settings: vec![(
                Setting::parse_shape(&format!("v0={rate} fq")).unwrap(),
                None,
            )],
            line: LineCapacity {
                egress_bps: Some(50e6),
                ingress_bps: None,
            },
            force,
            ..Request::default()
        };
        plan(&mut Live::open().unwrap(), &request, fresh_id().unwrap())
    };
    let reasons = |planned: Result<Change, TuneError>| match planned {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let refused = reasons(shaped("47.5kbit", false));
    assert!(
        refused.contains("less than half") && refused.contains("50 Mbit/s"),
        "{refused}"
    );
    assert!(refused.contains("--force"), "{refused}");
    // This kernel may lack the queue.
    for (rate, force) in [("47.5mbit", false), ("25mbit", false), ("47.5kbit", true)] {
        let message = reasons(shaped(rate, force));
        assert!(!message.contains("less than half"), "{rate}: {message}");
    }
}

/// The rate of the slow direction, in the fast one.
#[test]
fn a_shaper_in_the_wrong_direction_is_refused_unless_forced() {
    if !scene() {
        return;
    }
    let slow = "v0=9.5mbit fq";
    let line = LineCapacity {
        egress_bps: Some(10e6),
        ingress_bps: Some(100e6),
    };
    let refused = |setting: Setting| {
        let request = Request {
            settings: vec![(setting, None)],
            line,
            ..Request::default()
        };
        let planned = plan(&mut Live::open().unwrap(), &request, fresh_id().unwrap());
        planned
            .err()
            .is_some_and(|e| e.to_string().contains("less than half"))
    };
    assert!(refused(Setting::parse_shape_ingress(slow).unwrap()));
    assert!(!refused(Setting::parse_shape(slow).unwrap()));
}

/// Drivers reset the link for some settings of a device; a switch and DHCP need up to a minute.
#[test]
fn a_reset_of_the_only_link_gets_more_time_to_return() {
    if !scene() {
        return;
    }
    sh("ip link add w0 type veth peer name w1 && ip link set w0 up && ip link set w1 up");
    sh("ip addr add 10.2.0.1/24 dev w0");
    let window = |setting: &str, probes: &[&str]| {
        let settings = match setting {
            "mtu" => Setting::parse_mtu("v0=1400"),
            _ => Setting::parse_offload("v0=gso off"),
        };
        let plan = planned_with(&[settings.unwrap()], probes).unwrap();
        tune::window(&mut Live::open().unwrap(), &plan)
    };
    assert_eq!(window("mtu", &[TARGET]), CONNECTIVITY);
    assert!(window("offload", &[TARGET]) > CONNECTIVITY);
    assert!(window("offload", &[]) > CONNECTIVITY);
    assert_eq!(window("offload", &["10.2.0.2:22"]), CONNECTIVITY, "another");
    assert!(window("offload", &["10.2.0.2:22", TARGET]) > CONNECTIVITY);
}

/// A probe that fails while the link is reset is tried again before the change is undone.
#[test]
fn a_link_that_returns_within_seconds_is_waited_for() {
    let Some(far) = Far::new("true") else {
        return;
    };
    let offload = Setting::parse_offload("v0=gso off").unwrap();
    let mut down = false;
    let rollback = applied_with_probe(&[offload], &[TARGET], |env| {
        let pending = env.folder.list().unwrap().pop().unwrap();
        let id = pending.change.unwrap().id;
        // As a driver does that resets it.
        far.ns.run(|| sh("ip link set v1 down")).unwrap();
        let mut prober = Counted(0, &far.ns);
        let kept = tune::confirm_or_undo(env, &id, &mut prober);
        assert!(kept.is_ok(), "{kept:?}");
        assert_eq!(prober.0, 2);
        down = true;
    });
    assert!(down && rollback.is_complete(), "{rollback}");
}

/// The first connection fails at once; then the link is up again.
struct Counted<'a>(u32, &'a Netns);

impl Prober for Counted<'_> {
    fn connect(&mut self, target: &str) -> std::io::Result<Vec<String>> {
        self.0 += 1;
        if self.0 == 1 {
            self.1.run(|| sh("ip link set v1 up")).unwrap();
            return Err(std::io::ErrorKind::HostUnreachable.into());
        }
        NewFlows.connect(target)
    }
}

/// Settings of the device that all connections use are not touched before somebody can undo them.
#[test]
fn the_device_of_the_default_route_is_not_touched_without_a_keeper() {
    if !scene() {
        return;
    }
    sh("ip route add default via 10.1.0.2 dev v0");
    let show = || sh("ip -d link show v0; tc qdisc show; ip route show table all");
    let before = show();
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::open(&folder.path().join("tune")).unwrap();
    let mut env = Env {
        folder: &folder,
        host: &mut Live::open().unwrap(),
        clock: &BootClock,
        observer: &mut Unobserved,
    };
    let mut arm = Arm {
        window: Duration::from_secs(60),
        controller: own(),
        keeper: &mut |_| Err(std::io::Error::other("no such program")),
        prober: &mut NewFlows,
    };
    let blackhole = [Setting::parse_queue("v0=bfifo limit=10").unwrap()];
    let plan = planned(&blackhole).unwrap();
    let refused = tune::apply(&mut env, &plan, &mut arm);
    assert!(
        matches!(refused, Err(TuneError::NoKeeper(_))),
        "{refused:?}"
    );
    assert_eq!(show(), before);
}

/// Restarting a VPN's daemon for its MTU would drop the path in use. Its process goes on, and the
/// files that keep the MTU name neither it nor a restart.
#[test]
fn the_daemon_of_a_vpn_is_not_restarted_for_its_mtu() {
    if !in_own_process("lockout::the_daemon_of_a_vpn_is_not_restarted_for_its_mtu") {
        return;
    }
    sh("ip link add v0 type veth peer name v1 && ip link set v0 up");
    let root = tempfile::tempdir().unwrap();
    let daemon = root.path().join("tailscaled");
    sh(&format!("cp $(command -v sleep) {}", daemon.display()));
    let mut daemon = Command::new(daemon).arg("600").spawn().unwrap();
    std::fs::create_dir_all(root.path().join("etc/systemd/system")).unwrap();
    let rollback = applied_with(&[Setting::parse_mtu("v0=1380").unwrap()], |env| {
        let files = kept_in_files(env, root.path());
        assert!(files.contains("1380"), "{files}");
        for word in ["restart", "wg-quick", "tailscale", "netbird"] {
            assert!(!files.contains(word), "{files}");
        }
    });
    assert!(rollback.is_complete(), "{rollback}");
    assert!(daemon.try_wait().unwrap().is_none(), "it was ended");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

/// Without its module at boot, `sysctl` fails at the line of bbr, and some skip those after it.
#[test]
fn a_persisted_bbr_has_its_module_loaded_at_boot() {
    if !scene() {
        return;
    }
    let bbr = [cc("bbr", "host")];
    let now = sh("cat /proc/sys/net/ipv4/tcp_congestion_control");
    if now.trim() == "bbr" {
        sh("echo reno >/proc/sys/net/ipv4/tcp_congestion_control");
    }
    if let Err(refused) = planned(&bbr) {
        println!("skipped: {refused}");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("etc/systemd/system")).unwrap();
    let rollback = applied_with(&bbr, |env| {
        let files = kept_in_files(env, root.path());
        assert!(files.contains("/etc/modules-load.d/"), "{files}");
        assert!(files.contains("tcp_bbr\n"), "{files}");
    });
    assert!(rollback.is_complete(), "{rollback}");
    let left = sh(&format!("find {} -type f", root.path().display()));
    assert_eq!(left, "");
}

/// Confirms the pending change and writes it to files; returns their paths and texts.
fn kept_in_files(env: &mut Env<'_>, root: &std::path::Path) -> String {
    let change = tune::confirm(env, None, &mut NewFlows).unwrap().change;
    let kept = tune::persist(env, change.id.as_str(), root).unwrap();
    let texts = kept
        .files
        .iter()
        .map(|f| format!("{}\n{}\n", f.path, f.text));
    texts.collect()
}
