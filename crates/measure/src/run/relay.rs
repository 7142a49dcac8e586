//! Changes of a tunnel between a direct connection and a relay while it is measured.

use model::{
    facts::{Connection, TunnelFacts},
    net::Layer,
    run::{Invalid, Sample},
};

/// Connection of a tunnel to its peer, as its product reports it from time to time.
pub(crate) struct Relay {
    connection: Option<Connection>,
    /// Samples before this one were judged.
    judged: usize,
}

impl Relay {
    /// Begins with the facts before the first step.
    pub(crate) fn new(tunnel: Option<&TunnelFacts>) -> Self {
        Self {
            connection: tunnel.and_then(Connection::of),
            judged: 0,
        }
    }

    /// Returns true if the product reports a route: then it can be queried again.
    pub(crate) fn is_known(&self) -> bool {
        self.connection.is_some()
    }

    /// Marks the samples over the tunnel since the last time, if the route has changed: some of
    /// them were measured over both.
    pub(crate) fn judge(&mut self, now: Option<&TunnelFacts>, samples: &mut [Sample]) {
        let since = self.judged.min(samples.len());
        self.judged = samples.len();
        // An unknown route, or no route because nothing was sent, is not a change.
        let Some(after) = now.and_then(Connection::of) else {
            return;
        };
        let Some(before) = self.connection.replace(after.clone()) else {
            return;
        };
        if before == after {
            return;
        }
        let tunnel = samples[since..]
            .iter_mut()
            .filter(|s| s.key.layer == Layer::Tunnel);
        for sample in tunnel {
            sample.valid = false;
            sample.invalid.push(Invalid::RelayChanged {
                before: before.clone(),
                after: after.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{
        facts::TunnelPath,
        net::IpVersion,
        run::{Key, StepKind},
    };

    use super::*;

    fn tunnel(path: TunnelPath) -> TunnelFacts {
        TunnelFacts {
            path: Some(path),
            relay: (path == TunnelPath::Relayed).then(|| "fra".to_owned()),
            ..TunnelFacts::default()
        }
    }

    fn samples(count: usize) -> Vec<Sample> {
        let of = |layer| Key {
            step: StepKind::Tcp,
            layer,
            family: IpVersion::V4,
            direction: None,
            bidirectional: false,
            flows: None,
            cc: None,
            rate_bps: None,
            bytes: None,
        };
        (0..count)
            .map(|i| [Layer::Tunnel, Layer::Underlay][i % 2])
            .map(|layer| Sample::new(of(layer), 0))
            .collect()
    }

    fn marked(samples: &[Sample]) -> Vec<usize> {
        let changed = |s: &Sample| {
            s.invalid
                .iter()
                .any(|i| matches!(i, Invalid::RelayChanged { .. }))
        };
        (0..samples.len())
            .filter(|&i| changed(&samples[i]))
            .collect()
    }

    #[test]
    fn a_new_relay_invalidates_the_samples_since_the_last_check() {
        let mut relay = Relay::new(Some(&tunnel(TunnelPath::Direct)));
        let mut all = samples(8);
        relay.judge(Some(&tunnel(TunnelPath::Direct)), &mut all[..4]);
        assert_eq!(marked(&all), [0_usize; 0]);
        relay.judge(Some(&tunnel(TunnelPath::Relayed)), &mut all);
        assert_eq!(marked(&all), [4, 6], "over the tunnel, and since then");
        assert!(!all[4].valid && all[5].valid);
        assert_eq!(
            all[4].invalid[0].to_string(),
            "the tunnel changed from direct to relayed through fra"
        );
    }

    #[test]
    fn unknown_values_are_no_change() {
        let mut relay = Relay::new(Some(&tunnel(TunnelPath::Direct)));
        let mut all = samples(4);
        relay.judge(None, &mut all);
        relay.judge(Some(&tunnel(TunnelPath::Idle)), &mut all);
        relay.judge(Some(&tunnel(TunnelPath::Direct)), &mut all);
        assert_eq!(marked(&all), [0_usize; 0]);
        assert!(!Relay::new(None).is_known());
    }
}
