//! Proofs of changes with every setting, state, refusal and error that a page can show.

use std::{io, time::Duration};

use model::{
    change::{Change, ChangeError, ChangeId, Setting, State, parse::Scope},
    job::ProveOutput,
    proof::Proof,
    text,
    text::Text,
};
use sys::{NetlinkError, sysctl::SysctlError};
use tune::{
    Access, Drift, HostError, JournalError, Left, MeasureError, NotApplied, NotSettled, Operation,
    PersistError, ProveError, Refusal, RefusalReason, RemoteError, Rollback, TuneError,
};

fn id() -> ChangeId {
    ChangeId::from_random([7; 16])
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn kernel() -> NetlinkError {
    NetlinkError::new("add qdisc cake to link 3", 1)
}

/// A setting of each kind.
pub(crate) fn settings() -> Vec<Setting> {
    let route = "route:10.0.0.0/8".parse().unwrap();
    let all = [
        Setting::parse_set("net.ipv4.tcp_ecn=1", Scope::Host),
        Setting::parse_set("cc=bbr", route),
        Setting::parse_queue("eth0=cake bandwidth=19mbit rtt=50ms"),
        Setting::parse_shape_ingress("eth0=20mbit fq_codel"),
        Setting::parse_mss_clamp("mtu"),
        Setting::parse_mss_clamp("1240"),
        Setting::parse_offload("eth0=rx-gro off"),
        Setting::parse_offload("eth0=rx-gro on"),
        Setting::parse_mtu("wg0=1400"),
    ];
    let mut all: Vec<Setting> = all.into_iter().map(Result::unwrap).collect();
    all.push(Setting::ReceiveSteering {
        device: "eth0".to_owned(),
        cpus: 4,
    });
    all.push(Setting::QueueLength {
        device: "eth0".to_owned(),
        packets: 1000,
    });
    all.push(Setting::RouteCongestionControl {
        to: "10.0.0.0/8".parse().unwrap(),
        table: Some(52),
        cc: "bbr".to_owned(),
    });
    all
}

fn states() -> Vec<State> {
    let error = HostError::NoDevice("eth0".to_owned()).text();
    vec![
        State::Planned,
        State::Armed,
        State::Applying { step: 0 },
        State::Applied,
        State::Verified,
        State::Confirmed,
        State::Persisting,
        State::Persisted,
        State::Unpersisting,
        State::RollingBack { step: 0 },
        State::RolledBack,
        State::RollbackFailed { step: 0, error },
    ]
}

/// Returns refusals of a host, with every reason.
fn refusals() -> Vec<Refusal> {
    use RefusalReason as R;
    let allowed = || "cubic".into();
    let kind = || "htb".to_owned();
    let reasons = [
        R::Twice,
        R::NoDevice("eth0".to_owned()),
        R::Dependent,
        R::ReadOnly,
        R::ValueCount {
            has: 3,
            given: 2,
            now: "4096 131072 6291456".to_owned(),
        },
        R::NoCongestionControl {
            name: "bbr".to_owned(),
            available: "reno cubic".into(),
        },
        R::NotAllowed { allowed: allowed() },
        R::NoWayBack {
            old: "bbr".to_owned(),
            allowed: allowed(),
        },
        R::Filters,
        R::Classes { kind: kind() },
        R::AlteredBack,
        R::NotTakenBack(kernel().into()),
        R::QueueRefused {
            kind: "cake",
            error: kernel().into(),
        },
        R::NoPackets,
        R::HookTaken { kind: kind() },
        R::LeftoverDevice,
        R::NoRate,
        R::Starves {
            rate_bps: 19_000,
            measured_bps: 20_000_000,
        },
        R::TableExists { table: "pathtwin" },
        R::BelowIpv4 { least: 576 },
        R::BelowIpv6 {
            device: "eth0".to_owned(),
            least: 1280,
        },
        R::NoOffload,
        R::FixedOffload,
        R::NoReceiveQueues,
        R::TooManyProcessors { has: 4 },
        R::UnreadableRoute,
        R::Unroutable(kernel().into()),
        R::NoGateway,
        R::Advertised,
        R::OtherTable { table: 52 },
        R::PartlyRouted,
    ];
    let first = &settings()[0];
    let mut all: Vec<Refusal> = reasons
        .into_iter()
        .map(|reason| Refusal::new(first, reason))
        .collect();
    for setting in settings() {
        let reason = R::Unreadable(Box::new(kernel().into()));
        all.push(Refusal::new(&setting, reason));
    }
    all
}

fn host_errors() -> Vec<HostError> {
    let device = || "eth0".to_owned();
    let key = || "net.ipv4.tcp_ecn".to_owned();
    let mut all = vec![
        kernel().into(),
        HostError::NoDevice(device()),
        HostError::NoDeviceToward([192, 0, 2, 1].into()),
        HostError::Unusable(Box::new(settings().remove(0))),
        HostError::NotTaken(text!("no queue discipline")),
        SysctlError::Read {
            key: key(),
            error: denied(),
        }
        .into(),
        SysctlError::Write {
            key: key(),
            value: "1".to_owned(),
            error: denied(),
        }
        .into(),
    ];
    let operations = [
        Operation::MakeId,
        Operation::ReadBootId,
        Operation::ExamineNamespace,
        Operation::Enter("h1".to_owned()),
        Operation::ReadOffloads(device()),
        Operation::SwitchOffloads(device()),
        Operation::ListQueues(device()),
        Operation::ReadProcessors(device()),
        Operation::SetProcessors(device()),
    ];
    all.extend(operations.map(|operation| operation.failed()(denied())));
    all
}

fn rollback() -> Rollback {
    let setting = || settings().remove(2);
    let file = || "/etc/sysctl.d/98.conf".to_owned();
    Rollback {
        failed: host_errors().into_iter().enumerate().collect(),
        left: vec![
            Left::NoDevice(setting()),
            Left::OtherDevice(setting()),
            Left::Drifted(Drift {
                setting: setting(),
                now: text!("no route of its own"),
            }),
            Left::Edited(file()),
            Left::File {
                file: file(),
                error: denied(),
            },
        ],
        journal: None,
    }
}

fn persist_errors() -> Vec<TuneError> {
    let file = || "/etc/sysctl.conf".to_owned();
    let name = || "net.ipv4.tcp_ecn".to_owned();
    let all = [
        PersistError::NotConfirmed(State::Applied),
        PersistError::Managed("NixOS"),
        PersistError::ManagedFile {
            file: file(),
            manager: "Ansible",
        },
        PersistError::UnknownSystem,
        PersistError::Exists(file()),
        PersistError::Write {
            file: file(),
            error: denied(),
        },
        PersistError::Overridden {
            name: name(),
            value: "2".to_owned(),
            file: file(),
        },
        PersistError::NotRead(name()),
    ];
    all.map(TuneError::from).into()
}

fn far_and_journal_errors() -> Vec<TuneError> {
    let folder = || "/var/lib/x".into();
    let host = || "h2".to_owned();
    let mut all: Vec<TuneError> = [Access::Create, Access::Lock, Access::Read, Access::Write]
        .map(|op| JournalError::Folder {
            op,
            folder: folder(),
            error: denied(),
        })
        .map(TuneError::from)
        .into();
    all.push(
        JournalError::Damaged {
            file: folder(),
            error: ChangeError::NoStep,
        }
        .into(),
    );
    let far = [
        RemoteError::Start {
            program: "`ssh`",
            error: io::ErrorKind::NotFound.into(),
        },
        RemoteError::Failed {
            command: "plan".to_owned(),
            host: host(),
            // The words of the program there.
            message: "…".to_owned(),
            exit: None,
        },
        RemoteError::NotMade {
            host: host(),
            limit: Duration::from_secs(600),
        },
        RemoteError::Plan {
            host: host(),
            error: ChangeError::Newer(9),
        },
    ];
    all.extend(far.map(TuneError::from));
    all
}

/// Every error of a transaction.
fn errors() -> Vec<TuneError> {
    let target = || "192.0.2.1:22".to_owned();
    let setting = || settings().remove(0);
    let mut all = vec![
        TuneError::Nothing,
        TuneError::Refused(refusals()),
        TuneError::Privilege(
            settings()
                .into_iter()
                .map(|s| (s, "CAP_NET_ADMIN"))
                .collect(),
        ),
        TuneError::Pending(id()),
        TuneError::Elsewhere(id()),
        TuneError::Stale(Box::new(setting())),
        TuneError::ProbeBefore {
            target: target(),
            error: io::ErrorKind::ConnectionRefused.into(),
        },
        TuneError::NoKeeper(denied()),
        TuneError::KeeperDied,
        TuneError::Busy,
        TuneError::Step {
            step: 1,
            setting: Box::new(setting()),
            error: Box::new(HostError::NoDevice("eth0".to_owned()).into()),
            rollback: rollback(),
        },
        TuneError::Step {
            step: 1,
            setting: Box::new(setting()),
            error: Box::new(TuneError::Busy),
            rollback: Rollback::default(),
        },
        TuneError::ProbeAfter {
            target: target(),
            error: io::ErrorKind::TimedOut.into(),
        },
        TuneError::TooLate(id()),
        TuneError::Aside(id()),
        TuneError::OnlyConfirmed(id()),
        TuneError::Overlaid { id: id(), by: id() },
        TuneError::Unknown("0a".to_owned()),
        TuneError::Ambiguous("0a".to_owned()),
        TuneError::NonePending,
        TuneError::Over {
            id: id(),
            state: State::Confirmed,
        },
    ];
    all.extend(persist_errors());
    all.extend(far_and_journal_errors());
    all
}

/// Returns every reason for the lack of a proof.
fn failures() -> Vec<Text> {
    let mut all: Vec<Text> = errors().iter().map(TuneError::text).collect();
    let error = MeasureError::new(text!("network unreachable"), denied());
    all.push(ProveError::Measure { turn: 2, error }.text());
    let id = || Some(id());
    let error = || TuneError::NonePending;
    all.push(
        NotSettled::NotKept {
            id: id(),
            error: error(),
        }
        .text(),
    );
    all.push(
        NotSettled::NotUndone {
            id: id(),
            error: error(),
        }
        .text(),
    );
    let not_undone = vec![TuneError::Busy, TuneError::NonePending];
    let applied = NotApplied {
        error: Box::new(error()),
        not_undone,
    };
    all.push(applied.text());
    all
}

/// A change in a state.
fn change(state: State) -> Change {
    let steps = settings().into_iter().map(|setting| {
        serde_json::json!({
            "setting": setting,
            "old": {"kind": "parameter", "value": "0"},
        })
    });
    let change = serde_json::json!({
        "schema": 1, "program": "0.1.0", "id": id(), "state": state,
        "scope": {"boot": "b", "netns": 1, "host": "h1"},
        "steps": steps.collect::<Vec<_>>(),
        "undone_because": text!("not confirmed before its deadline"),
    });
    serde_json::from_value(change).unwrap()
}

fn proof() -> Proof {
    let acted: Vec<_> = settings()
        .iter()
        .map(|setting| {
            serde_json::json!({
                "setting": setting.text(),
                "evidence": text!("it is set; no counter shows whether it acts"),
            })
        })
        .collect();
    let proof = serde_json::json!({
        "schema": 1, "program": "0.1.0", "changes": [id()], "goal": "balanced",
        "decision": "did_not_act", "acted": acted, "turns": [false, true],
        "text": text!("undone: the figure to improve could not be measured"),
        "figures": [{"direction": "down", "figure": "goodput", "role": "target",
            "without": 1e7, "with": 2e7, "verdict": "better"}],
        "comparison": {"schema": 1, "before": {"name": "", "runs": []},
            "after": {"name": "", "runs": []}, "threshold": 0.02, "share_threshold": 0.001,
            "lines": []},
    });
    serde_json::from_value(proof).unwrap()
}

/// Proofs with all of these, as documents after a round trip.
pub(crate) fn proofs() -> Vec<ProveOutput> {
    let refused = refusals().iter().map(Refusal::text).collect();
    let mut all = vec![ProveOutput {
        not_applied: refused,
        changes: states().into_iter().map(change).collect(),
        proof: Some(Box::new(proof())),
        left_changed: settings().iter().map(Setting::text).collect(),
        ..ProveOutput::default()
    }];
    all.extend(failures().into_iter().map(|error| ProveOutput {
        error: Some(error),
        ..ProveOutput::default()
    }));
    let stored = serde_json::to_vec(&all).unwrap();
    serde_json::from_slice(&stored).unwrap()
}
