//! Evidence of the hosts of a composed Run.

use std::collections::BTreeMap;

use model::evidence::{CoreShares, CpuUse, Evidence, ThreadRole, ThreadUse};

use super::{composer::Composer, hosts::Machine};

impl Composer<'_> {
    /// Evidence of the near and the far host, without processors. `lost` packets were lost in one
    /// of them.
    pub(super) fn counted(&self, lost: f64) -> [Option<Evidence>; 2] {
        let seconds = self.scene.measured.seconds;
        [&self.scene.near, &self.scene.far].map(|machine| {
            let moved = machine.counters.iter();
            let mut counters: BTreeMap<String, u64> = moved
                .map(|(name, per_s)| (name.clone(), (*per_s as f64 * seconds) as u64))
                .collect();
            for name in &machine.drops {
                *counters.entry(name.clone()).or_default() += lost as u64;
            }
            counters.retain(|_, by| *by > 0);
            Some(Evidence {
                interval_us: (seconds * 1e6) as u64,
                counters,
                groups: ["nstat", "softnet", "udp", "qdisc.eth0", "nic.eth0"]
                    .map(str::to_owned)
                    .into(),
                ..Evidence::default()
            })
        })
    }

    /// Adds processor use and backlogs of devices.
    pub(super) fn busy(&self, mut evidence: [Option<Evidence>; 2]) -> [Option<Evidence>; 2] {
        let machines = [&self.scene.near, &self.scene.far];
        for (machine, evidence) in machines.into_iter().zip(evidence.iter_mut().flatten()) {
            evidence.cpu = Some(cpu(machine, self.scene.measured.seconds));
            evidence.levels.insert(
                format!("qdisc.eth0.root.{}.backlog_bytes", machine.device.qdisc),
                machine.device.backlog_bytes,
            );
        }
        evidence
    }
}

fn cpu(machine: &Machine, seconds: f64) -> CpuUse {
    let core = |cpu: u32, busy: f64, softirq: f64| CoreShares {
        cpu,
        user: 0.3 * (busy - softirq).max(0.0),
        system: 0.7 * (busy - softirq).max(0.0),
        softirq,
        idle: 1.0 - busy,
        ..CoreShares::default()
    };
    let thread = ThreadUse {
        role: ThreadRole::Tunnel,
        name: "tunnel".to_owned(),
        tid: 4711,
        user_s: 0.5 * machine.tunnel_thread * seconds,
        system_s: 0.5 * machine.tunnel_thread * seconds,
        wait_s: None,
    };
    CpuUse {
        cores: vec![
            core(0, machine.busiest, machine.softirq),
            core(1, 0.1, 0.02),
            core(2, 0.1, 0.02),
            core(3, 0.1, 0.02),
        ],
        threads: if machine.tunnel_thread > 0.0 {
            vec![thread]
        } else {
            Vec::new()
        },
    }
}
