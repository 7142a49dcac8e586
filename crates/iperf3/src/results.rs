//! Results of an end: the JSON object that both send after the test.

use serde_json::{Value, json};

use super::{Error, ProtocolError, number::integer};

/// Processor time of one end's process in percent of one processor, interrupts and kernel threads
/// not included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// User and system together.
    pub total_percent: f64,
    /// In the program.
    pub user_percent: f64,
    /// In system calls.
    pub system_percent: f64,
}

/// Report of one end about a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Its processor time.
    pub cpu: Cpu,
    /// True if its streams count retransmissions; absent if it only received.
    pub has_retransmits: Option<bool>,
    /// Congestion control that its sockets really used.
    pub congestion_used: Option<String>,
    /// Its side of the streams.
    pub streams: Vec<StreamResults>,
}

/// Counts of one end for a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamResults {
    /// Number of the stream: 1, then 3, 4, 5, and so on.
    pub id: u32,
    /// Payload bytes sent or received.
    pub bytes: u64,
    /// Segments retransmitted; absent if this end did not send, or if unknown.
    pub retransmits: Option<u64>,
    /// Jitter of UDP by RFC 3550, s.
    pub jitter_s: f64,
    /// Datagrams lost, those before the counted part included.
    pub lost: u64,
    /// Datagrams sent, or the highest number received, those before the counted part included.
    pub packets: u64,
    /// Lost before the counted part; iperf 3.14 and newer send it, always with the next.
    pub omitted_lost: Option<u64>,
    /// Datagrams before the counted part.
    pub omitted_packets: Option<u64>,
    /// Start of the counted part, s.
    pub start_s: f64,
    /// Its end, s.
    pub end_s: f64,
}

impl Results {
    /// Parses the results from the other end.
    ///
    /// # Errors
    /// A number that every version of iperf3 sends is missing.
    pub fn parse(value: &Value) -> Result<Self, Error> {
        let cpu = Cpu {
            total_percent: float(value, "cpu_util_total")?,
            user_percent: float(value, "cpu_util_user")?,
            system_percent: float(value, "cpu_util_system")?,
        };
        let has_retransmits = match whole(value, "sender_has_retransmits")? {
            n if n < 0 => None,
            n => Some(n != 0),
        };
        let streams = value
            .get("streams")
            .and_then(Value::as_array)
            .ok_or_else(|| missing("streams"))?;
        Ok(Self {
            cpu,
            has_retransmits,
            congestion_used: value
                .get("congestion_used")
                .and_then(Value::as_str)
                .map(str::to_owned),
            streams: streams
                .iter()
                .map(StreamResults::parse)
                .collect::<Result<_, _>>()?,
        })
    }

    /// The JSON object that is sent.
    pub fn to_json(&self) -> Value {
        let streams: Vec<Value> = self.streams.iter().map(StreamResults::to_json).collect();
        let mut value = json!({
            "cpu_util_total": self.cpu.total_percent,
            "cpu_util_user": self.cpu.user_percent,
            "cpu_util_system": self.cpu.system_percent,
            "sender_has_retransmits": self.has_retransmits.map_or(-1, i64::from),
            "streams": streams,
        });
        if let Some(name) = &self.congestion_used {
            value["congestion_used"] = json!(name);
        }
        value
    }
}

impl StreamResults {
    fn parse(value: &Value) -> Result<Self, Error> {
        let id = whole(value, "id")?;
        Ok(Self {
            id: u32::try_from(id).map_err(|_| ProtocolError::StreamId(id))?,
            bytes: count(value, "bytes")?,
            retransmits: u64::try_from(whole(value, "retransmits")?).ok(),
            jitter_s: float(value, "jitter")?.max(0.0),
            // The count of iperf3 can fall below 0 if datagrams arrive late and duplicated.
            lost: u64::try_from(whole(value, "errors")?).unwrap_or(0),
            packets: count(value, "packets")?,
            omitted_lost: optional(value, "omitted_errors"),
            omitted_packets: optional(value, "omitted_packets"),
            start_s: float(value, "start_time").unwrap_or(0.0),
            end_s: float(value, "end_time").unwrap_or(0.0),
        })
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "id": self.id,
            "bytes": self.bytes,
            "retransmits": self.retransmits.map_or(-1, u64::cast_signed),
            "jitter": self.jitter_s,
            "errors": self.lost,
            "packets": self.packets,
            "start_time": self.start_s,
            "end_time": self.end_s,
        });
        if let (Some(lost), Some(packets)) = (self.omitted_lost, self.omitted_packets) {
            value["omitted_errors"] = json!(lost);
            value["omitted_packets"] = json!(packets);
        }
        value
    }
}

fn missing(key: &'static str) -> Error {
    ProtocolError::Results(key).into()
}

impl StreamResults {
    /// Length of the counted part, µs. On the wire it is seconds as a decimal fraction; most
    /// microseconds have no exact binary form, so it is rounded, not truncated.
    pub fn counted_us(&self) -> u64 {
        ((self.end_s - self.start_s).max(0.0) * 1e6).round() as u64
    }
}

fn float(value: &Value, key: &'static str) -> Result<f64, Error> {
    value
        .get(key)
        .and_then(Value::as_f64)
        .ok_or_else(|| missing(key))
}

fn whole(value: &Value, key: &'static str) -> Result<i64, Error> {
    value.get(key).and_then(integer).ok_or_else(|| missing(key))
}

fn count(value: &Value, key: &'static str) -> Result<u64, Error> {
    u64::try_from(whole(value, key)?).map_err(|_| missing(key))
}

fn optional(value: &Value, key: &'static str) -> Option<u64> {
    u64::try_from(integer(value.get(key)?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: 1,982 µs of one end were 1,981 µs for the other, whose goodput differed in the fourth
    /// digit.
    #[test]
    fn both_ends_have_the_same_time() {
        for us in (0..20_000).chain([999_999, 1_000_001, 59_999_999]) {
            let stream = StreamResults {
                end_s: us as f64 / 1e6,
                ..StreamResults::default()
            };
            assert_eq!(stream.counted_us(), us);
        }
    }
}
