//! Shapers as text, with a rate or a share of the measured capacity: `wan=47.5mbit fq_codel`,
//! `wan=95%`.

use super::{Queue, Setting, SettingError, device::of_device};
use crate::{
    capacity::LineCapacity,
    remedy::{Discipline, Flow},
    spec::quantity,
    units::Share,
};

/// A shaper of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaper {
    device: String,
    rate: ShaperRate,
    queue: Discipline,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ShaperRate {
    Bps(u64),
    /// Of the capacity, above 0.
    Share(Share),
}

impl Shaper {
    /// The setting for packets that the device sends or receives, on a host whose line has this
    /// capacity.
    ///
    /// # Errors
    /// The rate is a share, and the capacity is unknown.
    pub fn setting(&self, flow: Flow, line: LineCapacity) -> Result<Setting, SettingError> {
        let device = self.device.clone();
        let bps = match (self.rate, line.of(flow)) {
            (ShaperRate::Bps(bps), _) => bps,
            (ShaperRate::Share(share), Some(bps)) => (share.get() * bps) as u64,
            (ShaperRate::Share(_), None) => return Err(SettingError::ShareOfUnknown(device)),
        };
        let mut queue = Queue::shaper(bps, self.queue);
        Ok(match flow {
            Flow::Egress => Setting::Queue { device, queue },
            Flow::Ingress => {
                if let Queue::Cake(cake) = &mut queue {
                    cake.ingress = Some(true);
                }
                Setting::Ingress { device, queue }
            }
        })
    }
}

/// Reads `DEVICE=RATE [DISCIPLINE]` or `DEVICE=SHARE% [DISCIPLINE]`; cake if no discipline is
/// named.
impl std::str::FromStr for Shaper {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let (device, rest) = of_device(text)?;
        let mut words = rest.split_whitespace();
        let rate = rate(text, words.next().unwrap_or_default())?;
        let queue = match words.next() {
            None | Some("cake") => Discipline::Cake,
            Some("fq_codel") => Discipline::FqCodel,
            Some("fq") => Discipline::Fq,
            Some(other) => {
                return Err(SettingError::ShaperQueue(other.to_owned()));
            }
        };
        match words.next() {
            Some(more) => Err(SettingError::ShaperForm(more.to_owned())),
            None => Ok(Self {
                device,
                rate,
                queue,
            }),
        }
    }
}

fn rate(text: &str, word: &str) -> Result<ShaperRate, SettingError> {
    if word.ends_with('%') {
        let share = quantity::share(word)?;
        return match share.is_zero() {
            false => Ok(ShaperRate::Share(share)),
            true => Err(SettingError::ShaperRate(text.to_owned())),
        };
    }
    match quantity::rate(word)?.bps() {
        0 => Err(SettingError::ShaperRate(text.to_owned())),
        bps => Ok(ShaperRate::Bps(bps)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{capacity::PathCapacity, net::Side};

    #[test]
    fn a_share_is_that_of_the_capacity_in_its_direction() {
        let path = PathCapacity {
            down_bps: Some(100e6),
            up_bps: Some(20e6),
        };
        let shaper: Shaper = "wan=95% fq_codel".parse().unwrap();
        let rate = |flow, side| {
            let setting = shaper.setting(flow, path.of_end(side)).unwrap();
            let (Setting::Queue { queue, .. } | Setting::Ingress { queue, .. }) = setting else {
                panic!("{setting}");
            };
            queue.rate_bps().unwrap()
        };
        assert_eq!(rate(Flow::Egress, Side::Near), 19_000_000);
        assert_eq!(rate(Flow::Ingress, Side::Near), 95_000_000);
        assert_eq!(rate(Flow::Egress, Side::Far), 95_000_000);
        let unknown = shaper.setting(Flow::Egress, LineCapacity::default());
        let unknown = unknown.unwrap_err().to_string();
        assert!(unknown.contains("--findings or --advice"), "{unknown}");
        for wrong in ["wan=0%", "wan=101%", "wan=95% red", "wan=%"] {
            assert!(wrong.parse::<Shaper>().is_err(), "{wrong}");
        }
    }
}
