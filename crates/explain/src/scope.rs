//! Input of remedies: the Run, and the place of the finding.

use analysis::{
    models,
    view::{DirectionView, Host, View},
};
use model::{
    findings::Place,
    net::{Direction, Side},
    remedy::{Action, Bottleneck, Buffer, CcScope, Discipline, Flow, RouteTo, shaped_bps},
};

/// Place of a finding in a Run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// The Run; absent = the remedies in general, in which every value of a Run is absent.
    view: Option<View<'a>>,
    /// The place.
    pub(crate) place: Place,
}

impl<'a> Scope<'a> {
    /// A place in a Run.
    pub(crate) fn of(view: View<'a>, place: Place) -> Self {
        Self {
            view: Some(view),
            place,
        }
    }

    /// The Run, if there is one.
    pub(crate) fn view(&self) -> Option<View<'a>> {
        self.view
    }

    /// The direction of the place, if any.
    pub(crate) fn direction_view(&self) -> Option<DirectionView<'a>> {
        Some(self.view?.direction(self.place.direction?))
    }

    /// The host of the place, if any.
    pub(crate) fn here(&self) -> Option<Host<'a>> {
        Some(self.view?.host(self.place.end?))
    }

    /// The sender in that direction.
    pub(crate) fn sender(&self) -> Option<Host<'a>> {
        Some(self.view?.host(Side::sends(self.place.direction?)))
    }

    /// The receiver in that direction.
    pub(crate) fn receiver(&self) -> Option<Host<'a>> {
        Some(self.view?.host(Side::receives(self.place.direction?)))
    }

    /// Another congestion control at the sender, on the route to the other end only.
    pub(crate) fn send_with(&self, cc: &str) -> Action {
        let scope = self.sender().and_then(|host| route(&host));
        Action::CongestionControl {
            cc: cc.to_owned(),
            scope: scope.map_or(CcScope::Host, CcScope::Route),
        }
    }

    /// A shaper below the path's capacity ([`shaped_bps`]) in the direction of the place. Its rate
    /// is that of the underlay's IP packets, also where the tunnel was measured.
    pub(crate) fn shaper(&self, device: Option<String>, flow: Flow, below: Bottleneck) -> Action {
        let carries = self.direction_view().and_then(below_tunnel_bps);
        Action::Shaper {
            device,
            rate_bps: carries.map(shaped_bps),
            queue: Discipline::Cake,
            flow,
            direction: self.place.direction.unwrap_or(Direction::Up),
            below,
        }
    }

    /// A buffer limit of `times` the bandwidth-delay product on `host`. If its kernel already
    /// allows that, a program has set a fixed size.
    pub(crate) fn buffer(&self, host: Option<Host>, buffer: Buffer, times: f64) -> Action {
        let needed = self.direction_view().and_then(|dir| {
            let load = dir.default_load()?;
            let (rtt_us, rate) = (load.rtt_us()?, dir.payload_capacity_bps(&load)?);
            Some((times * models::needed_bytes(rate, rtt_us / 1e6)).ceil() as u64)
        });
        let now = host.and_then(|host| host.facts.sysctl_triple(buffer.sysctl()));
        if let (Some(needed), Some([_, _, max])) = (needed, now)
            && max >= needed
        {
            return Action::FreeBuffer { buffer };
        }
        Action::SocketBuffer {
            buffer,
            keep: now.map(|[min, default, _]| [min, default]),
            max_bytes: needed,
        }
    }
}

/// What a direction carries below a tunnel, bit/s of IP packets.
pub(crate) fn below_tunnel_bps(dir: DirectionView) -> Option<f64> {
    Some(dir.view.wire().underlay_bps(dir.carried_bps()?))
}

/// Name of a host's outgoing device.
pub(crate) fn device(host: Option<Host>) -> Option<String> {
    Some(host?.device()?.name.clone())
}

/// Name of the tunnel's device.
pub(crate) fn tunnel_device(host: Option<Host>) -> Option<String> {
    host?.tunnel()?.device.clone()
}

/// The route from a host to the other end.
fn route(host: &Host) -> Option<RouteTo> {
    let path = host.facts.path.as_ref()?;
    let route = path.layers.first()?.route.as_ref()?;
    (!route.local).then(|| RouteTo {
        toward: path.toward,
        via: route.via,
        device: route.device.clone(),
        source: route.source,
        table: route.table.filter(|table| *table != MAIN_TABLE),
    })
}

/// Number of the main routing table (`RT_TABLE_MAIN`).
const MAIN_TABLE: u32 = 254;

#[cfg(test)]
mod tests {
    use model::{
        net::{IpVersion, Layer},
        run::{FlowResult, Key, Run, Sample, StepKind, Tcp},
    };

    use super::*;

    /// A Run of one TCP load down on a layer, 10 Mbit/s of payload in segments of `mss` bytes.
    fn run(layer: Layer, mss: u32) -> Run {
        let text = r#"{"schema": 1, "id": "", "program": "", "started_us": 0, "took_s": 1.0,
            "plan": {"step": []}, "near": {"program": "", "facts": {"schema": 1}},
            "far": {"program": "", "facts": {"schema": 1}}, "layers": [], "samples": [],
            "figures": [], "ratios": []}"#;
        let mut run = Run::parse(text.as_bytes()).unwrap();
        let key = Key {
            step: StepKind::Tcp,
            layer,
            family: IpVersion::V4,
            direction: Some(Direction::Down),
            bidirectional: false,
            flows: Some(1),
            cc: Some("cubic".to_owned()),
            rate_bps: None,
            bytes: None,
        };
        let mut sample = Sample::new(key, 0);
        sample.valid = true;
        sample.tcp = Some(Tcp {
            goodput_bps: 10e6,
            flows: vec![FlowResult {
                mss: Some(mss),
                ..FlowResult::default()
            }],
            ..Tcp::default()
        });
        run.samples = vec![sample];
        run
    }

    fn shaped_bps(run: &Run) -> f64 {
        let place = Place {
            direction: Some(Direction::Down),
            end: None,
        };
        let scope = Scope::of(View::new(run).unwrap(), place);
        match scope.shaper(None, Flow::Egress, Bottleneck::Queue) {
            Action::Shaper { rate_bps, .. } => rate_bps.unwrap() as f64,
            action => panic!("{action:?}"),
        }
    }

    /// The shaper of the underlay was set to the rate inside the tunnel, some percent too low. A
    /// full packet of WireGuard over IPv4: 1368 bytes of payload, 52 inside and 60 outside. Without
    /// a tunnel the rate is that of the measured IP packets.
    #[test]
    fn a_shaper_below_a_tunnel_counts_the_headers_of_the_tunnel() {
        let tunnel = shaped_bps(&run(Layer::Tunnel, 1368));
        assert!(
            (tunnel - 0.95 * 10e6 * 1480.0 / 1368.0).abs() < 2.0,
            "{tunnel}"
        );
        let path = shaped_bps(&run(Layer::Underlay, 1448));
        assert!((path - 0.95 * 10e6 * 1500.0 / 1448.0).abs() < 2.0, "{path}");
    }
}
