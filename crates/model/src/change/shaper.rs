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
    /// CAKE if absent.
    queue: Option<Discipline>,
}

/// The root queue of a device, or the queue of all shapers beside it that name none.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueOf {
    /// `eth0=fq_codel target=5ms`.
    Device(Setting),
    /// `cake`, `fq_codel` or `fq`.
    Shapers(Discipline),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ShaperRate {
    Bps(u64),
    /// Of the capacity, above 0.
    Share(Share),
}

impl Shaper {
    /// The shaper with a queue that is given separately.
    ///
    /// # Errors
    /// It has another one already.
    pub fn with_queue(self, queue: Discipline) -> Result<Self, SettingError> {
        match self.queue {
            Some(own) if own != queue => Err(SettingError::ShaperQueues {
                device: self.device,
                own: own.name(),
                given: queue.name(),
            }),
            _ => Ok(Self {
                queue: Some(queue),
                ..self
            }),
        }
    }

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
        let mut queue = Queue::shaper(bps, self.queue.unwrap_or(Discipline::Cake));
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
        let wrong = |word: &str| SettingError::ShaperQueue(word.to_owned());
        let named = |word: &str| discipline(word).ok_or_else(|| wrong(word));
        let queue = words.next().map(named).transpose()?;
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

impl std::str::FromStr for QueueOf {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        match discipline(text) {
            Some(queue) => Ok(Self::Shapers(queue)),
            None => Setting::parse_queue(text).map(Self::Device),
        }
    }
}

fn discipline(word: &str) -> Option<Discipline> {
    let all = [Discipline::Cake, Discipline::FqCodel, Discipline::Fq];
    all.into_iter().find(|queue| queue.name() == word)
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

    #[test]
    fn a_queue_beside_a_shaper_is_that_of_the_shaper() {
        let shaper = |text: &str| text.parse::<Shaper>().unwrap();
        for name in ["cake", "fq_codel", "fq"] {
            let QueueOf::Shapers(queue) = name.parse().unwrap() else {
                panic!("{name}");
            };
            let together = shaper(&format!("wan=95% {name}"));
            assert_eq!(shaper("wan=95%").with_queue(queue).unwrap(), together);
            assert_eq!(together.clone().with_queue(queue).unwrap(), together);
        }
        let twice = shaper("wan=95% fq").with_queue(Discipline::Cake);
        let twice = twice.unwrap_err().to_string();
        assert!(twice.contains("fq") && twice.contains("cake"), "{twice}");
        let of_device = Setting::parse_queue("cake=fq_codel").unwrap();
        assert_eq!("cake=fq_codel".parse(), Ok(QueueOf::Device(of_device)));
        for wrong in ["", "pfifo", "eth0"] {
            assert!(wrong.parse::<QueueOf>().is_err(), "{wrong}");
        }
    }
}
