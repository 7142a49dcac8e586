//! The record stream: written records are read back, and no input makes the reader panic.

use model::record::{Kind, MAGIC, QueueSample, Stream, StreamError, records};
use proptest::prelude::*;

const KINDS: [Kind; 6] = [
    Kind::TcpSender,
    Kind::TcpReceiver,
    Kind::Queue,
    Kind::Probe,
    Kind::Udp,
    Kind::Short,
];

fn kind() -> impl Strategy<Value = Kind> {
    (0..KINDS.len()).prop_map(|i| KINDS[i])
}

type Written = (Kind, u16, i64, Vec<u8>);

fn stream(written: &[Written]) -> Stream {
    let mut stream = Stream::default();
    for (kind, id, at_ns, payload) in written {
        stream.push(*kind, *id, *at_ns, payload);
    }
    stream
}

proptest! {
    #[test]
    fn written_files_are_read_back(
        written in prop::collection::vec(
            (kind(), any::<u16>(), any::<i64>(), prop::collection::vec(any::<u8>(), 0..300)),
            0..20,
        )
    ) {
        let stream = stream(&written);
        let read: Vec<Written> = records(stream.bytes())
            .unwrap()
            .map(|r| r.unwrap())
            .map(|r| (r.kind, r.id, r.at_ns, r.payload.to_vec()))
            .collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn a_truncated_stream_yields_its_complete_records_and_names_the_position(cut in 1usize..60) {
        let written: Vec<Written> = (0..4).map(|i| (Kind::Probe, i, 0, vec![0; 16])).collect();
        let stream = stream(&written);
        let bytes = &stream.bytes()[..stream.bytes().len() - cut];
        let read: Vec<_> = records(bytes).unwrap().collect();
        let whole = (bytes.len() - MAGIC.len()) / 32;
        prop_assert_eq!(read.iter().filter(|r| r.is_ok()).count(), whole);
        let ends_inside = !(bytes.len() - MAGIC.len()).is_multiple_of(32);
        prop_assert_eq!(matches!(read.last(), Some(Err(StreamError::Cut(_)))), ends_inside);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        if let Ok(records) = records(&bytes) {
            records.for_each(drop);
        }
        let mut with_magic = MAGIC.to_vec();
        with_magic.extend(&bytes);
        records(&with_magic).unwrap().for_each(drop);
    }

    #[test]
    fn words_come_back(words in prop::array::uniform8(any::<u64>())) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        prop_assert_eq!(QueueSample::read(&bytes).words(), words.to_vec());
    }
}
