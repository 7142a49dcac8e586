#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::net::*;
use super::*;
use crate::testutil::netns;

proptest! {
    #[test]
    fn any_text_is_parsed_without_panic(text in "[ -~\n\t]{0,300}") {
        let _ = (counters(&text), counters6(&text), softnet(&text), udp_sockets(&text));
        let _ = (cores(&text), task(&text), cpu_info(&text), memory_bytes(&text));
        let _ = (online_cpus(&text), tun::tun_of(&text));
        let cpus = text.lines().next().map_or(0, |l| l.split_whitespace().count());
        for line in interrupts(&text) {
            prop_assert!(line.counts.len() <= cpus);
        }
    }

    #[test]
    fn a_thread_may_have_any_name(name in "[ -~]{1,15}") {
        let text = format!("77 ({name}) S 1 77 77 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 1 0 900 0 0");
        let ticks = task(&text).unwrap();
        prop_assert_eq!((ticks.tid, ticks.user, ticks.system, ticks.started), (77, 50, 60, 900));
        prop_assert_eq!(ticks.name, name);
    }
}

#[test]
fn counters_have_the_names_of_nstat() {
    let text = "Ip: Forwarding DefaultTTL InReceives\nIp: 1 64 77\n\
                Tcp: MaxConn RetransSegs\nTcp: -1 5\n";
    let read = counters(text);
    let names: Vec<&str> = read.keys().map(String::as_str).collect();
    assert_eq!(names, ["IpInReceives", "TcpRetransSegs"]);
    assert_eq!(read["IpInReceives"], 77);
    let six = counters6("Ip6InReceives                   \t12\nUdp6RcvbufErrors  3\n");
    assert_eq!(six["Udp6RcvbufErrors"], 3);
}

/// Two lines of Linux 6.18 on two processors, the second with number 5.
#[test]
fn softnet_lines_name_their_processor() {
    let text = "\
        0004af7f 00000000 00000000 0 0 0 0 0 0 00000000 00000000 00000000 00000000 0 0\n\
        00060419 00000002 00000001 0 0 0 0 0 0 00000011 00000003 00000000 00000005 0 0\n";
    let read = softnet(text);
    assert_eq!(read[0].cpu, 0);
    let wanted = Softnet {
        cpu: 5,
        processed: 0x60419,
        dropped: 2,
        time_squeeze: 1,
        received_rps: 0x11,
        flow_limit: 3,
    };
    assert_eq!(read[1], wanted);
    assert_eq!(softnet("01 02 03\n04 05 06\n")[1].cpu, 1);
}

#[test]
fn drops_of_a_full_udp_socket_are_seen_in_its_namespace_only() {
    let Some(ns) = netns() else { return };
    ns.loopback_up().unwrap();
    let (port, read) = ns
        .run(|| {
            let small = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            let to = small.local_addr().unwrap();
            let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            for _ in 0..2000 {
                sender.send_to(&[0; 1400], to).unwrap();
            }
            (to.port(), read_net("udp").unwrap())
        })
        .unwrap();
    let sockets = udp_sockets(&read);
    let socket = sockets.iter().find(|s| s.port == port).unwrap();
    assert!(socket.drops > 0 && socket.rx_queue_bytes > 0, "{socket:?}");
    assert!(socket.inode > 0);
    let outside = udp_sockets(&read_net("udp").unwrap());
    assert!(!outside.iter().any(|s| s.inode == socket.inode));
    let inside = ns.run(|| counters(&read_net("snmp").unwrap())).unwrap();
    assert!(inside["UdpRcvbufErrors"] >= socket.drops);
}

#[test]
fn time_that_a_thread_spends_is_counted() {
    let tid = rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .cast_unsigned();
    let own = || {
        let all = tasks(std::process::id()).unwrap();
        let task = all.into_iter().find(|t| t.tid == tid).unwrap();
        task.user + task.system
    };
    let before = own();
    let mut x = 1u64;
    while own() == before {
        x = std::hint::black_box(x.wrapping_mul(3));
    }
    assert!(own() > before);
    let cores = cores(&read("/proc/stat").unwrap());
    assert!(!cores.is_empty() && cores.iter().all(|c| c.user + c.system + c.idle > 0));
}

#[test]
fn the_sum_of_all_processors_is_no_processor() {
    let text = "cpu  33 2 20 300 4 1 5 6 0 0\ncpu0 10 1 9 100 2 0 3 4 0 0\ncpu7 23 1 11 200 2 1 2 2 0 0\nintr 5\n";
    let read = cores(text);
    assert_eq!(read.iter().map(|c| c.cpu).collect::<Vec<_>>(), [0, 7]);
    let first = CoreTicks {
        cpu: 0,
        user: 11,
        system: 9,
        idle: 102,
        irq: 0,
        softirq: 3,
        steal: 4,
    };
    assert_eq!(read[0], first);
}

#[test]
fn interrupts_of_a_virtual_network_card() {
    let text = "           CPU0       CPU1       \n\
        \x2038:          0      50128 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n\
        ERR:          0\n";
    let read = interrupts(text);
    assert_eq!(read[0].number, "38");
    assert_eq!(read[0].counts, [0, 50_128]);
    assert_eq!(read[0].what, "PCI-MSIX-0000:00:03.0 1-edge virtio2-input.0");
    assert_eq!(read[1].counts, [0]);
}

#[test]
fn processors_of_several_architectures() {
    let x86 =
        "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nflags\t\t: fpu aes avx\n";
    let info = cpu_info(x86);
    assert_eq!(info.model.as_deref(), Some("Xeon"));
    assert_eq!(info.flags.unwrap(), ["fpu", "aes", "avx"]);
    let arm = cpu_info("processor\t: 0\nFeatures\t: fp asimd aes pmull\nCPU part\t: 0xd03\n");
    assert_eq!((arm.model, arm.flags.unwrap().len()), (None, 4));
    let mips = cpu_info("system type\t: MediaTek\ncpu model\t: MIPS 1004Kc V2.15\n");
    assert_eq!(mips.model.as_deref(), Some("MIPS 1004Kc V2.15"));
    assert_eq!(mips.flags, None);
    assert_eq!(online_cpus("0-3,8\n"), Some(5));
    assert_eq!(memory_bytes("MemTotal:        2048 kB\n"), Some(2_097_152));
}

/// Content that Linux 6.18 shows of a descriptor of /dev/net/tun.
#[test]
fn fdinfo_names_the_tun_device() {
    let info = "pos:\t0\nflags:\t02104002\nmnt_id:\t30\nino:\t5\niff:\ttun7\n";
    assert_eq!(tun::tun_of(info), Some("tun7"));
    assert_eq!(tun::tun_of("pos:\t0\niff:\t\n"), None);
}

/// `TUNSETIFF`, `IFF_TUN | IFF_NO_PI` (include/uapi/linux/if_tun.h, Linux 7.2).
fn open_tun(name: &str) -> std::fs::File {
    use std::os::fd::AsRawFd;
    let options = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    let file = options.unwrap();
    let mut request = [0u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[16..18].copy_from_slice(&0x1001u16.to_ne_bytes());
    // SAFETY: the request is a struct ifreq (40 bytes) with a name that ends with a NUL, and
    // outlives the call.
    let rc = unsafe { libc::ioctl(file.as_raw_fd(), 0x4004_54ca, request.as_mut_ptr()) };
    assert_eq!(rc, 0, "{}", io::Error::last_os_error());
    file
}

#[test]
fn the_holder_of_a_tun_device_is_found() {
    let Some(ns) = netns() else { return };
    if !std::path::Path::new("/dev/net/tun").exists() {
        println!("skipped: no /dev/net/tun");
        return;
    }
    let _held = ns.run(|| open_tun("pthold0")).unwrap();
    let holders = tun_holders("pthold0");
    let own = holders
        .iter()
        .find(|h| h.pid == std::process::id())
        .unwrap();
    assert_eq!(Some(&own.program), program(own.pid).as_ref());
    assert!(own.same_namespace);
    // Seen from inside, this process is in another namespace: that of its main thread.
    let inside = ns.run(|| tun_holders("pthold0")).unwrap();
    assert!(!inside[0].same_namespace);
    assert!(tun_holders("pthold1").is_empty());
    let mut nl = ns.route().unwrap();
    let link = crate::link::list(&mut nl).unwrap();
    let link = link.iter().find(|l| l.name == "pthold0").unwrap();
    assert_eq!(link.kind.as_deref(), Some("tun"));
}

#[test]
fn the_wait_for_a_processor_is_the_second_number() {
    assert_eq!(waited_ns("239006 50375 2\n"), Some(50_375));
    assert_eq!(waited_ns("0 0 0\n"), None, "this kernel does not count");
    assert_eq!(waited_ns(""), None);
}

/// Of two threads that compute on one processor, one always waits.
#[test]
fn threads_that_share_a_processor_wait_for_it() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let own = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    if waited_ns(&own).is_none() {
        eprintln!("skipped: this kernel does not count the wait for a processor");
        return;
    }
    let stop = AtomicBool::new(false);
    let compute = || {
        rustix::thread::sched_setaffinity(None, &first_processor()).unwrap();
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let waited = || -> u64 {
        let all = tasks(std::process::id()).unwrap();
        let shared = all.iter().filter(|t| t.name == "shared");
        shared.filter_map(|t| t.waited_ns).sum()
    };
    let found = std::thread::scope(|scope| {
        for _ in 0..2 {
            let thread = std::thread::Builder::new().name("shared".to_owned());
            thread.spawn_scoped(scope, compute).unwrap();
        }
        let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
        let found = (0..100).any(|_| {
            pause();
            waited() > 0
        });
        stop.store(true, Ordering::Relaxed);
        found
    });
    assert!(found);
}

/// The first processor that this thread may use.
fn first_processor() -> rustix::thread::CpuSet {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let mut first = rustix::thread::CpuSet::new();
    let cpu = (0..rustix::thread::CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu));
    first.set(cpu.unwrap());
    first
}

/// A daemon by its program; ended when dropped.
struct Daemon(std::process::Child);

impl Daemon {
    fn start(program: &std::path::Path) -> Self {
        Self(
            std::process::Command::new(program)
                .arg("300")
                .spawn()
                .unwrap(),
        )
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two daemons of one product on a machine, one of them in another network namespace: that one was
/// named as the process of the tunnel.
#[test]
fn the_daemon_of_another_namespace_is_not_the_one_of_this_host() {
    let Some(ns) = netns() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("ptdaemon0");
    // Copied by another process: no test that starts one meanwhile inherits the open file.
    let mut copy = std::process::Command::new("cp");
    let copied = copy.arg("/bin/sleep").arg(&program).status().unwrap();
    assert!(copied.success());
    let inside = ns.run(|| Daemon::start(&program)).unwrap();
    assert_eq!(with_program("ptdaemon0"), [] as [u32; 0]);
    let here = Daemon::start(&program);
    assert_eq!(with_program("ptdaemon0"), [here.0.id()]);
    let seen = ns.run(|| with_program("ptdaemon0")).unwrap();
    assert_eq!(seen, [inside.0.id()]);
}
