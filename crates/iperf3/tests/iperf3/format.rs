//! Messages on the wire: written messages are read back, and no bytes make a reader panic.

use iperf3::{
    datagram::{HEAD, Head, is_reply},
    params::{Params, Protocol},
    results::{Cpu, Results, StreamResults},
    wire::{Cookie, MAX_PARAMS, MAX_RESULTS, Message, State, frame, read_json, read_message},
};
use model::net::LoadDirection;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Parameters that iperf 3.12 sends for `-c HOST -t 1 -b 8M`.
const FROM_3_12: &str = r#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":1,"len":131072,"bandwidth":8000000,"pacing_timer":1000,"client_version":"3.12"}"#;

#[test]
fn parameters_of_iperf3_are_read() {
    let value = serde_json::from_str(FROM_3_12).unwrap();
    let expected = Params {
        time_s: Some(1),
        len: Some(131_072),
        rate_bps: Some(8_000_000),
        ..Params::default()
    };
    assert_eq!(Params::parse(&value), Ok(expected));
}

#[test]
fn absent_parameters_have_the_defaults_of_iperf3() {
    assert_eq!(Params::parse(&json!({})), Ok(Params::default()));
    assert_eq!(
        Params::parse(&json!({"tcp": true, "time": 0, "num": 5})),
        Ok(Params {
            time_s: None,
            bytes: Some(5),
            ..Params::default()
        })
    );
}

/// Newer servers refuse a burst, a flow label or lengths of 0.
#[test]
fn unrequested_data_is_not_sent() {
    let sent = Params::default().to_json();
    for key in [
        "burst",
        "flowlabel",
        "len",
        "window",
        "MSS",
        "TOS",
        "fqrate",
    ] {
        assert_eq!(sent.get(key), None, "{key}");
    }
    assert_eq!(sent["tcp"], true);
}

/// iperf 3.13 and older print -1 as 2^64 - 1.
#[test]
fn minus_one_of_old_versions_is_minus_one() {
    for minus_one in [
        "-1",
        "18446744073709551615",
        "1.8446744073709552e19",
        "-1.0",
    ] {
        let text = format!(
            r#"{{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,
            "sender_has_retransmits":{minus_one},"streams":[{{"id":1,"bytes":5,
            "retransmits":{minus_one},"jitter":0,"errors":0,"packets":0}}]}}"#
        );
        let results = Results::parse(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(results.has_retransmits, None, "{minus_one}");
        assert_eq!(results.streams[0].retransmits, None, "{minus_one}");
    }
}

#[test]
fn results_without_a_count_are_no_results() {
    let whole = Results {
        streams: vec![StreamResults::default()],
        ..Results::default()
    }
    .to_json();
    assert!(Results::parse(&whole).is_ok());
    for key in [
        "cpu_util_total",
        "cpu_util_user",
        "cpu_util_system",
        "sender_has_retransmits",
    ] {
        let mut value = whole.clone();
        value.as_object_mut().unwrap().remove(key);
        assert!(Results::parse(&value).is_err(), "{key}");
    }
    for key in ["id", "bytes", "retransmits", "jitter", "errors", "packets"] {
        let mut value = whole.clone();
        value["streams"][0].as_object_mut().unwrap().remove(key);
        assert!(Results::parse(&value).is_err(), "{key}");
    }
}

#[test]
fn replies_of_all_versions_are_known() {
    assert!(is_reply(b"6789"));
    assert!(is_reply(&[0xb1, 0x68, 0xde, 0x3a]));
    assert!(!is_reply(b"9876"));
}

#[test]
fn a_cookie_is_36_letters_and_a_zero() {
    let cookie = Cookie::new(std::array::from_fn(|i| i as u8));
    assert_eq!(cookie.bytes(), b"abcdefghijklmnopqrstuvwxyz234567abcd\0");
    assert!(Cookie::parse(cookie.bytes()) == Some(cookie));
    assert!(Cookie::parse(&[b'a'; 37]).is_none());
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    const KEYS: &str = "tcp|udp|sctp|time|omit|num|blockcount|parallel|reverse|bidirectional|window\
        |len|bandwidth|fqrate|MSS|TOS|nodelay|congestion|udp_counters_64bit|cpu_util_total\
        |cpu_util_user|cpu_util_system|sender_has_retransmits|streams|id|bytes|retransmits|jitter\
        |errors|packets|omitted_errors|omitted_packets|start_time|end_time";
    prop::collection::hash_map(KEYS, values, 0..12)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn params() -> impl Strategy<Value = Params> {
    let limits = (
        prop::option::of(1..=86_400_u32),
        1..=i64::MAX as u64,
        prop::option::of(1..=i64::MAX as u64),
        0..=600_u32,
        1..=128_u32,
    );
    let options = (
        prop::option::of(16..=65_507_u32),
        prop::option::of(1..=i64::MAX as u64),
        prop::option::of(1..=512_u32 << 20),
        prop::option::of(1..=255_u8),
        prop::option::of("[a-z]{1,15}"),
        any::<(bool, bool, bool)>(),
    );
    let direction = prop_oneof![
        Just(LoadDirection::Up),
        Just(LoadDirection::Down),
        Just(LoadDirection::Both)
    ];
    (limits, options, direction).prop_map(|(limits, options, direction)| {
        let (time_s, bytes, blocks, omit_s, parallel) = limits;
        let (len, rate_bps, window, tos, congestion, flags) = options;
        Params {
            protocol: if flags.0 {
                Protocol::Tcp
            } else {
                Protocol::Udp
            },
            direction,
            parallel,
            omit_s,
            time_s,
            bytes: Some(bytes),
            blocks,
            len,
            rate_bps,
            fq_rate_bps: rate_bps,
            window,
            mss: tos.map(u32::from),
            tos,
            nodelay: flags.1,
            congestion,
            counters_64bit: flags.2,
        }
    })
}

fn stream_results() -> impl Strategy<Value = StreamResults> {
    let count = 0..=i64::MAX as u64;
    let counts = (count.clone(), count.clone(), count.clone());
    (
        any::<u32>(),
        counts,
        prop::option::of(count),
        0.0..1e6,
        0.0..1e6,
    )
        .prop_map(
            |(id, (bytes, lost, packets), some, jitter_s, end_s)| StreamResults {
                id,
                bytes,
                retransmits: some,
                jitter_s,
                lost,
                packets,
                omitted_lost: some,
                omitted_packets: some,
                start_s: 0.0,
                end_s,
            },
        )
}

proptest! {
    #[test]
    fn parameters_come_back(params in params()) {
        let text = params.to_json().to_string();
        prop_assert!(text.len() <= MAX_PARAMS);
        prop_assert_eq!(Params::parse(&serde_json::from_str(&text).unwrap()), Ok(params));
    }

    #[test]
    fn results_come_back(
        streams in prop::collection::vec(stream_results(), 0..4),
        percent in 0.0..1e4,
        has_retransmits in any::<Option<bool>>(),
        congestion_used in prop::option::of("[a-z]{1,15}"),
    ) {
        let cpu = Cpu { total_percent: percent, user_percent: percent, system_percent: 0.0 };
        let results = Results { cpu, has_retransmits, congestion_used, streams };
        let text = results.to_json().to_string();
        let read = Results::parse(&serde_json::from_str(&text).unwrap()).unwrap();
        // The last bit of a fraction may be lost in the decimal text.
        prop_assert_eq!(read.to_json(), serde_json::from_str::<Value>(&text).unwrap());
        prop_assert_eq!(read.streams.len(), results.streams.len());
    }

    #[test]
    fn accepted_parameters_are_in_range(value in object(json())) {
        if let Ok(params) = Params::parse(&value) {
            prop_assert!((1..=128).contains(&params.parallel));
            prop_assert!(params.time_s.is_none_or(|s| (1..=86_400).contains(&s)));
            prop_assert!(params.len.is_none_or(|l| (1..=1 << 20).contains(&l)));
            prop_assert!(params.time_s.or(params.bytes.map(|_| 0)).or(params.blocks.map(|_| 0)).is_some());
            if params.protocol == Protocol::Udp {
                prop_assert!(params.len.is_none_or(|l| (16..=65_507).contains(&l)));
            }
        }
        let _ = Results::parse(&value);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = read_message(&mut bytes.as_slice());
        let _ = read_json(&mut bytes.as_slice(), MAX_RESULTS);
        let _ = Cookie::parse(&bytes);
        for wide in [false, true] {
            let head = Head::decode(wide, &bytes);
            prop_assert_eq!(head.is_some(), bytes.len() >= if wide { 16 } else { 12 });
            prop_assert!(head.is_none_or(|h| h.sent_ns() >= 0));
        }
    }

    #[test]
    fn a_json_text_round_trips(value in json()) {
        let read = read_json(&mut frame(&value).as_slice(), MAX_RESULTS).unwrap();
        prop_assert_eq!(read, serde_json::from_str::<Value>(&value.to_string()).unwrap());
    }

    #[test]
    fn a_cut_json_text_is_an_error(value in object(json()), share in 0.0..1.0) {
        let bytes = frame(&value);
        let cut = (bytes.len() as f64 * share) as usize;
        prop_assert!(read_json(&mut &bytes[..cut], MAX_RESULTS).is_err());
    }

    #[test]
    fn a_head_round_trips(seconds: u32, micros in 0..1_000_000_u32, number: u64) {
        let head = Head { seconds, micros, number };
        prop_assert_eq!(Head::decode(true, &head.encode(true)), Some(head));
        let narrow = Head { number: number & u64::from(u32::MAX), ..head };
        prop_assert_eq!(Head::decode(false, &head.encode(false)[..HEAD - 4]), Some(narrow));
    }

    #[test]
    fn a_state_has_one_byte(byte: u8) {
        match State::from_byte(byte) {
            Some(state) => prop_assert_eq!(state.byte(), byte),
            None => prop_assert!(read_message(&mut [byte].as_slice()).is_err()),
        }
    }

    #[test]
    fn an_error_of_the_server_comes_with_its_numbers(code: i32, errno: i32) {
        let mut bytes = vec![0xfe];
        bytes.extend(code.to_be_bytes());
        bytes.extend(errno.to_be_bytes());
        let read = read_message(&mut bytes.as_slice()).unwrap();
        prop_assert_eq!(read, Message::ServerError { code, errno: Some(errno) });
    }
}
