//! Changes of a path that a watch has to find.

use std::fmt;

use model::{
    cell::{Buffer, Cell, Loss, Queue},
    net::Direction,
    units::{Bytes, Share},
};
use serde::{Deserialize, Serialize};

/// A change, and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planted {
    /// Since boot, s.
    pub at_s: f64,
    /// The change.
    pub change: Change,
}

/// A change of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The rates are these times as high, down and up.
    Rate([f64; 2]),
    /// Packets of one direction are lost, a share.
    Loss(Direction, f64),
    /// The queues are this many times as long.
    Queue(f64),
    /// fq_codel instead of a fifo.
    FqCodel,
    /// The path is this many times as long, and this many times as fast: a relay.
    Route {
        /// Factor of the delay.
        delay: f64,
        /// Factor of the rate.
        rate: f64,
    },
    /// The far end's default congestion control becomes this one.
    Congestion(String),
    /// The far end boots another release of the kernel.
    Kernel,
}

impl Change {
    /// Makes the change in a path. That of a host changes no line.
    pub fn apply(&self, cell: &mut Cell) {
        for direction in [Direction::Down, Direction::Up] {
            let line = cell.path.line_mut(direction);
            match self {
                Self::Rate([down, up]) => {
                    let factor = if direction == Direction::Down {
                        down
                    } else {
                        up
                    };
                    line.rate = line.rate.map(|rate| rate.scaled(*factor));
                }
                Self::Loss(of, share) if *of == direction => {
                    line.loss = Share::new(*share).map_or(line.loss, Loss::Random);
                }
                Self::Queue(times) => {
                    if let Buffer::Bytes(Bytes(bytes)) = &mut line.buffer {
                        *bytes = (*bytes as f64 * times) as u64;
                    }
                }
                Self::FqCodel => {
                    line.queue = Queue::FqCodel;
                    line.buffer = Buffer::Kernel;
                }
                Self::Route { delay, rate } => {
                    line.delay = line.delay.mul_f64(*delay);
                    line.rate = line.rate.map(|own| own.scaled(*rate));
                }
                Self::Loss(..) | Self::Congestion(_) | Self::Kernel => {}
            }
        }
    }

    /// The sysctl of the far end that changes, with its value.
    pub fn sysctl(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Congestion(cc) => Some(("net.ipv4.tcp_congestion_control", cc)),
            _ => None,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |factor: &f64| format!("{:+.0} %", 100.0 * (factor - 1.0));
        match self {
            Self::Rate([down, up]) => {
                write!(f, "rate down {}, up {}", percent(down), percent(up))
            }
            Self::Loss(direction, share) => write!(f, "loss {direction} {:.1} %", 100.0 * share),
            Self::Queue(times) => write!(f, "queues {times:.1} times as long"),
            Self::FqCodel => f.write_str("fq_codel instead of a fifo"),
            Self::Route { delay, rate } if *rate == 1.0 => {
                write!(f, "round trip {}", percent(delay))
            }
            Self::Route { delay, rate } => {
                write!(
                    f,
                    "relay: round trip {}, rate {}",
                    percent(delay),
                    percent(rate)
                )
            }
            Self::Congestion(cc) => write!(f, "far end's congestion control {cc}"),
            Self::Kernel => f.write_str("far end's kernel"),
        }
    }
}
