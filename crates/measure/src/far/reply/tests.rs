use model::run::{Column, Series};
use traffic::wire::{
    Errors, PublicKey,
    message::{self, Limits, Numbered, TcpOrder},
};

use crate::far;

use super::*;

/// A reply of the server, as the near end reads it.
fn read<T: Named>(reply: &message::Reply) -> Result<Result<T, Refusal>, String> {
    let text = serde_json::to_vec(reply).unwrap();
    let read: Result<Reply<T>, _> = serde_json::from_slice(&text);
    read.map(|reply| reply.0).map_err(|e| e.to_string())
}

fn given<T: Named>(reply: &message::Reply) -> T {
    match read(reply).unwrap() {
        Ok(body) => body,
        Err(refusal) => panic!("{}", refusal.why),
    }
}

fn finished(outcome: message::Outcome) -> message::Reply {
    message::Reply::Finished {
        outcome: Box::new(outcome),
    }
}

fn opened(key: Option<PublicKey>) -> message::Reply {
    let ticket = traffic::wire::Ticket::generate().unwrap();
    message::Reply::Opened {
        token: ticket.token,
        secret: ticket.secret,
        key,
    }
}

/// Every outcome that a server can send.
fn outcomes() -> [(&'static str, message::Outcome); 6] {
    let mut series = Series {
        at_us: vec![0, 10],
        ..Series::default()
    };
    series.push(Column::BytesReceived, vec![Some(1), None]);
    let tcp = TcpOutcome {
        flows: vec![series.clone()],
        cc_used: vec!["reno".to_owned()],
        errors: Errors(vec![model::text!("lost: {why}", why = "reset")]),
    };
    let udp = UdpOutcome {
        sent: 7,
        ..UdpOutcome::default()
    };
    let quic = QuicOutcome {
        series,
        ..QuicOutcome::default()
    };
    [
        ("tcp", message::Outcome::Tcp(tcp)),
        ("udp", message::Outcome::Udp(udp)),
        ("quic", message::Outcome::Quic(quic)),
        ("echo", message::Outcome::Echo(EchoOutcome {})),
        ("short", message::Outcome::Short(ShortOutcome {})),
        ("http", message::Outcome::Http(HttpOutcome {})),
    ]
}

#[test]
fn replies_round_trip() {
    let welcome = Welcome {
        program: "1.0".to_owned(),
        abilities: vec!["quic".to_owned()],
        congestion: Vec::new(),
        limits: Limits {
            flows: 3,
            ..Limits::default()
        },
    };
    assert_eq!(
        given::<Welcome>(&message::Reply::Welcome(welcome.clone())),
        welcome
    );
    let _: Done = given(&message::Reply::Done);
    for (_, outcome) in outcomes() {
        let reply = finished(outcome.clone());
        match outcome {
            message::Outcome::Tcp(sent) => {
                assert_eq!(given::<Finished<TcpOutcome>>(&reply).outcome.0, sent);
            }
            message::Outcome::Udp(sent) => {
                assert_eq!(given::<Finished<UdpOutcome>>(&reply).outcome.0, sent);
            }
            message::Outcome::Quic(sent) => {
                assert_eq!(given::<Finished<QuicOutcome>>(&reply).outcome.0, sent);
            }
            message::Outcome::Echo(sent) => {
                assert_eq!(given::<Finished<EchoOutcome>>(&reply).outcome.0, sent);
            }
            message::Outcome::Short(sent) => {
                assert_eq!(given::<Finished<ShortOutcome>>(&reply).outcome.0, sent);
            }
            message::Outcome::Http(sent) => {
                assert_eq!(given::<Finished<HttpOutcome>>(&reply).outcome.0, sent);
            }
            message::Outcome::Nothing => panic!("no load has it"),
        }
    }
}

#[test]
fn another_reply_than_the_one_due_is_an_error_that_names_both() {
    let error = read::<Facts>(&message::Reply::Done).err().unwrap();
    assert!(
        error.contains("`done`") && error.contains("`facts`"),
        "{error}"
    );
    for (name, outcome) in outcomes() {
        let reply = finished(outcome);
        let errors = [
            read::<Finished<TcpOutcome>>(&reply).err(),
            read::<Finished<UdpOutcome>>(&reply).err(),
            read::<Finished<QuicOutcome>>(&reply).err(),
            read::<Finished<EchoOutcome>>(&reply).err(),
            read::<Finished<ShortOutcome>>(&reply).err(),
            read::<Finished<HttpOutcome>>(&reply).err(),
        ];
        // Exactly one of the types accepts it.
        assert_eq!(errors.iter().filter(|e| e.is_none()).count(), 1, "{name}");
        for error in errors.into_iter().flatten() {
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
    }
}

/// After any change of a byte, the client accepts a reply as an outcome of TCP only if the server's
/// type does, too.
#[test]
fn a_damaged_reply_is_refused_or_read_like_by_the_server() {
    let [(_, tcp), ..] = outcomes();
    let text = serde_json::to_vec(&Numbered(7, finished(tcp))).unwrap();
    let mut taken = 0;
    for at in 0..text.len() {
        for byte in *b"\0 \",:{}[]0x" {
            let mut damaged = text.clone();
            damaged[at] = byte;
            let typed = far::outcome::<TcpOrder>(7, false, &damaged, text.len());
            let Ok(Some(typed)) = typed else {
                continue;
            };
            taken += 1;
            let read: Numbered<message::Reply> = serde_json::from_slice(&damaged).unwrap();
            assert_eq!(read, Numbered(7, finished(message::Outcome::Tcp(typed))));
        }
    }
    assert!(taken > 0, "each byte itself is among the replacements");
}

/// An outcome of the right kind is rejected if it replies to another request.
#[test]
fn a_reply_to_another_request_is_refused() {
    let [(_, tcp), ..] = outcomes();
    let text = serde_json::to_vec(&Numbered(7, finished(tcp))).unwrap();
    let read = |number| far::outcome::<TcpOrder>(number, false, &text, text.len());
    assert!(read(7).unwrap().is_some());
    for number in [0, 6, 8, u32::MAX] {
        let error = read(number).unwrap_err().to_string();
        assert!(error.contains("request 7"), "{error}");
    }
}

#[test]
fn a_refusal_answers_every_request() {
    let no = message::Reply::No {
        code: Code::Busy,
        why: "full".to_owned(),
        text: Some(Box::new(model::text!("full"))),
    };
    let refusal = read::<Finished<TcpOutcome>>(&no).unwrap().err().unwrap();
    assert_eq!((refusal.code, refusal.why.as_str()), (Code::Busy, "full"));
    // Codes unknown to this program, and none at all, mean no particular reason.
    for text in [
        r#"{"reply":"no","code":"new","why":""}"#,
        r#"{"reply":"no","why":""}"#,
    ] {
        let reply: Reply<Done> = serde_json::from_str(text).unwrap();
        let refusal = reply.0.err().unwrap();
        assert_eq!((refusal.code, refusal.text), (Code::Other, None));
    }
}

#[test]
fn quic_without_a_key_of_the_far_end_is_an_error() {
    assert!(read::<Opened<PublicKey>>(&opened(None)).is_err());
    assert!(
        given::<Opened<Option<PublicKey>>>(&opened(None))
            .key
            .is_none()
    );
}

#[test]
fn fields_that_are_not_known_are_passed_over_and_a_message_without_a_name_is_none() {
    let done: Result<Reply<Done>, _> = serde_json::from_str(r#"{"reply":"done","more":[1,{}]}"#);
    assert!(done.is_ok());
    for text in ["{}", "[]", "7", r#"{"why":"","reply":"done"}"#] {
        assert!(serde_json::from_str::<Reply<Done>>(text).is_err(), "{text}");
    }
}
