//! UDP steps of a composed Run: sweep, sizes, path MTU.

use model::{
    net::{Direction, Layer},
    run::{Pmtu, SizeStep, StepKind, SweepStep, Udp},
};

use super::{
    composer::{Composer, key},
    line::Line,
};

/// Payload of a datagram, bytes.
const PAYLOAD: f64 = 1200.0;
/// Payload over IP packet.
const SHARE: f64 = PAYLOAD / (PAYLOAD + 28.0);

impl Line {
    /// Rate of one UDP flow, Mbit/s of IP packets.
    pub(super) fn udp_mbps(&self) -> f64 {
        [self.udp_cap_mbps, self.cpu_cap_mbps, self.flow_cap_mbps]
            .into_iter()
            .flatten()
            .fold(self.rate_mbps, f64::min)
    }
}

impl Composer<'_> {
    pub(super) fn sweep(&mut self, layer: Layer, direction: Direction) {
        let line = self.line(layer, direction);
        let carries = self.about(line.udp_mbps() * 1e6 * SHARE, 0.01);
        let mut steps = Vec::new();
        for share in [0.1, 0.2, 0.4, 0.7, 1.0, 1.4] {
            let rate = carries * share;
            steps.push(self.step(&line, rate, carries));
        }
        let probe = self.scene.measured.seconds;
        let [near, far] = self.counted(0.0);
        self.push(
            key(StepKind::UdpSweep, layer, Some(direction)),
            probe,
            |s| {
                s.sweep = steps;
                s.capacity_bps = Some(carries / SHARE);
                (s.near, s.far) = (near, far);
            },
        );
    }

    fn step(&mut self, line: &Line, rate: f64, carries: f64) -> SweepStep {
        let sent = (rate / 8.0 / PAYLOAD).max(200.0);
        let mut lost = 0.0;
        // A random number per datagram, for realistic variance of small losses.
        for _ in 0..sent as u64 {
            if self.uniform() < line.loss {
                lost += 1.0;
            }
        }
        let over = (1.0 - carries / rate).max(0.0);
        lost += sent * over;
        let queue_us = if over > 0.0 {
            line.buffer_ms * 1e3
        } else {
            0.0
        };
        let rtt = self.about(line.rtt_ms * 1e3 + queue_us, 0.003);
        let received = sent - lost;
        SweepStep {
            rate_bps: rate as u64,
            udp: Udp {
                payload: PAYLOAD as u32,
                sent: sent as u64,
                received: received as u64,
                lost: lost / sent,
                reordered: (sent * line.reorder) as u64,
                jitter_us: Some(line.jitter_ms * 500.0),
                sent_bps: rate,
                received_bps: rate * received / sent,
                longest_loss: Some(u64::from(lost > 0.0)),
                loss_runs: Some(lost as u64),
                ..Udp::default()
            },
            rtt_p50_us: Some(rtt),
        }
    }

    pub(super) fn sizes(&mut self, layer: Layer) {
        let mut steps = Vec::new();
        let mut pmtu = Pmtu::default();
        let mtu = match (layer, &self.scene.tunnel) {
            (Layer::Tunnel, Some(tunnel)) => tunnel.mtu,
            _ => 1500,
        };
        for direction in [Direction::Down, Direction::Up] {
            let largest = self.line(layer, direction).largest.unwrap_or(mtu);
            for packet in [100, 600, 1000, 1200, 1280, 1350, 1400, 1420, 1500] {
                if packet <= mtu {
                    steps.push(SizeStep {
                        packet,
                        direction,
                        sent: 20,
                        received: if packet <= largest { 20 } else { 0 },
                    });
                }
            }
            match direction {
                Direction::Down => {
                    pmtu.down = Some(largest);
                    pmtu.silent_down = Some(largest < mtu);
                }
                Direction::Up => {
                    pmtu.up = Some(largest);
                    pmtu.silent_up = Some(largest < mtu);
                }
            }
        }
        self.push(key(StepKind::Sizes, layer, None), 1.0, |s| s.sizes = steps);
        self.push(key(StepKind::Pmtu, layer, None), 1.0, |s| {
            s.pmtu = Some(pmtu)
        });
    }
}
