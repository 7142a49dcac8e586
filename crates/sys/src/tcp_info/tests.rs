#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..320)) {
        prop_assert_eq!(TcpInfo::parse(&bytes).is_some(), bytes.len() >= 104);
        prop_assert_eq!(BbrInfo::parse(&bytes).is_some(), bytes.len() >= 20);
    }

    /// Fields beyond the returned length are absent, the others unchanged.
    #[test]
    fn a_shorter_structure_knows_less(len in 104usize..280) {
        let whole: Vec<u8> = (0..280u16).map(|i| i as u8).collect();
        let (part, whole) = (TcpInfo::parse(&whole[..len]).unwrap(), TcpInfo::parse(&whole).unwrap());
        prop_assert_eq!(part.min_rtt_us, whole.min_rtt_us.filter(|_| len >= 152));
        prop_assert_eq!(part.busy_time_us, whole.busy_time_us.filter(|_| len >= 176));
        prop_assert_eq!(part.snd_wnd, whole.snd_wnd.filter(|_| len >= 232));
        prop_assert_eq!(part.total_retrans, whole.total_retrans);
    }
}

#[test]
fn unlimited_is_absent() {
    let info = TcpInfo::parse(&[0xff; TCP_INFO_LEN]).unwrap();
    assert_eq!(
        (info.pacing_rate_bytes_s, info.max_pacing_rate_bytes_s),
        (None, None)
    );
    assert_eq!(info.min_rtt_us, None);
    assert_eq!((info.snd_wscale, info.rcv_wscale), (15, 15));
    assert_eq!((info.ecn_mode, info.options2), (Some(3), Some(0xff_ffff)));
}

#[test]
fn gains_of_bbr_are_scaled() {
    let words: [u32; 5] = [1, 2, 24_000, 320, 512];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    let info = BbrInfo::parse(&bytes).unwrap();
    assert_eq!(
        (info.bw_bytes_s, info.min_rtt_us),
        (2 << 32 | 1, Some(24_000))
    );
    assert_eq!((info.pacing_gain, info.cwnd_gain), (1.25, 2.0));
}

#[test]
fn a_connection_reports_the_bytes_it_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    near.write_all(&[0; 1000]).unwrap();
    far.read_exact(&mut [0; 1000]).unwrap();
    let info = read(near.as_fd()).unwrap();
    assert_eq!(info.state, 1);
    assert!(info.rtt_us > 0 && info.snd_cwnd > 0);
    assert!(info.bytes_sent.is_none_or(|b| b == 1000));
    assert!(raw(std::io::stdin().as_fd(), &mut [0; 8]).is_err());
}
