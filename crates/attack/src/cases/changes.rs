//! Unauthenticated and authenticated clients that request a change of settings, or its
//! confirmation.

use std::{
    fs,
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use traffic::wire::message::Request;

use crate::{
    case::{Case, Seen, Target},
    client::{Session, tcp},
    served::Served,
    trouble::Trouble,
};

const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 8, 8));
/// Time in which the pending change can be confirmed.
const WINDOW: Duration = Duration::from_secs(12);
/// Time after its deadline in which its keeper undoes it.
const KEEPER: Duration = Duration::from_secs(10);

pub(super) const CASES: &[Case] = &[Case {
    name: "asked-to-change",
    attack: "stranger and key holder: on every port of a server that runs as root, requests to apply, confirm \
             and undo changes, with the id of one that waits",
    bound: "no setting is changed, and the change that waits is undone at its deadline",
    run: asked_to_change,
}];

fn asked_to_change(target: &Target) -> Result<Seen, Trouble> {
    if !sys::privilege::has_net_admin() {
        return Err(Trouble::Needs("root"));
    }
    let ns = sys::Netns::create()?;
    ns.loopback_up().map_err(|error| error.io())?;
    ns.run(|| attacked(target))?
}

/// In a separate network namespace.
fn attacked(target: &Target) -> Result<Seen, Trouble> {
    let folder = tempfile::tempdir()?;
    let journal = folder.path().join("journal");
    let token = folder.path().join("token").display().to_string();
    let before = parameters();
    let mut program = Command::new(&target.program);
    program.env("PATHTWIN_JOURNAL", &journal);
    let options = [
        ["--listen", "127.0.0.1"],
        ["--user", "root"],
        ["--iperf3", "0"],
        ["--web", "0"],
        ["--web-token", &token],
    ];
    let served = Served::start_by(target, program, options.as_flattened())?;
    let mut seen = Seen::default();
    let window = format!("{}s", WINDOW.as_secs());
    let set = ["apply", "--set", "net.ipv4.tcp_ecn=1", "--window", &window];
    tune(target, &journal, &set)?;
    let deadline = Instant::now() + WINDOW;
    let waiting = parameters();
    let list = tune(target, &journal, &["list"])?;
    let id = list.split(' ').next().unwrap_or_default();
    let requests = requests(id);
    let mut asked = 0;
    let ports = [Some(served.addresses[0]), served.iperf3, served.web];
    for address in ports.into_iter().flatten() {
        for request in &requests {
            asked += u32::from(stranger(address, request).is_ok());
        }
    }
    for request in &requests {
        asked += u32::from(holder(&served, request).is_ok());
    }
    seen.note(format!("{asked} requests were sent"));
    seen.check(asked > 20, "the ports are reached");
    let is_before = Instant::now() < deadline;
    seen.check(is_before, "asked before the deadline");
    seen.check(parameters() == waiting, "no setting was changed meanwhile");
    thread::sleep((deadline + KEEPER).saturating_duration_since(Instant::now()));
    let list = tune(target, &journal, &["list"])?;
    seen.check(list.lines().count() == 1, "there is no second change");
    seen.check(list.contains("undone"), "the change that waited was undone");
    seen.check(parameters() == before, "all settings are as before");
    Ok(seen)
}

/// Requests that would change a host if anything listened to them.
fn requests(id: &str) -> Vec<Vec<u8>> {
    let setting = r#"{"kind":"sysctl","name":"net.ipv4.tcp_sack","value":"0"}"#;
    let http = |method: &str, path: &str, body: &str| {
        let length = body.len();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
    };
    let steps = format!(r#"{{"settings":[{setting}],"yes":true}}"#);
    [
        http("POST", "/tune/apply", &steps),
        http("POST", "/apply", &steps),
        http("POST", &format!("/tune/confirm/{id}"), "{}"),
        http("PUT", &format!("/tune/{id}/confirm"), "{}"),
        http("GET", &format!("/tune/confirm?id={id}&prolong=1h"), ""),
        http("DELETE", &format!("/tune/{id}"), ""),
        format!(r#"{{"Tune":{{"Confirm":"{id}"}}}}"#),
        format!(r#"{{"apply":[{setting}]}}"#),
        format!("tune confirm {id}\n"),
        "tune apply --set net.ipv4.tcp_sack=0 --yes\n".to_owned(),
    ]
    .map(String::into_bytes)
    .to_vec()
}

/// By TCP and by a datagram, without a key.
fn stranger(address: SocketAddr, request: &[u8]) -> Result<(), Trouble> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    stream.write_all(request)?;
    let _ = stream.read(&mut [0; 4096]);
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let _ = socket.send_to(request, address);
    Ok(())
}

/// In a session, in every text that a client can send, and with a load that names a congestion
/// control.
fn holder(served: &Served, request: &[u8]) -> Result<(), Trouble> {
    let mut session = Session::open_from(ATTACKER, served.addresses[0], &served.key)?;
    let program = String::from_utf8_lossy(request).into_owned();
    let _ = session.ask(&Request::Hello { program });
    let _ = session.open(tcp(true, 1, Duration::from_secs(1)));
    session.drop_dead();
    Ok(())
}

fn tune(target: &Target, journal: &Path, arguments: &[&str]) -> Result<String, Trouble> {
    let output = Command::new(&target.program)
        .arg("tune")
        .args(arguments)
        .env("PATHTWIN_JOURNAL", journal)
        .output()?;
    if !output.status.success() {
        return Err(Trouble::Command {
            command: "tune",
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All parameters of the namespace but counters.
fn parameters() -> String {
    let mut text = String::new();
    let mut folders = vec![Path::new("/proc/sys/net").to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(value) = fs::read_to_string(&path)
                && !path.ends_with("nf_conntrack_count")
            {
                text.push_str(&format!("{} = {value}", path.display()));
            }
        }
    }
    text
}
