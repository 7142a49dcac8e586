#![no_main]
//! Arbitrary bytes as a journal, a plan, or settings: accepted or rejected without a panic;
//! accepted values round-trip.

use libfuzzer_sys::fuzz_target;
use model::{
    change::{
        Change, Queue, QueueOf, Saved, Setting,
        parse::Scope,
        snippet::{Form, snippet},
    },
    proof::Proof,
};
use sys::route::table::Entry;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(change) = Change::parse(bytes) {
        let again = change.to_json().expect("every change has a JSON form");
        assert_eq!(Change::parse(&again).expect("a change"), change);
        let settings: Vec<Setting> = change.steps.iter().map(|s| s.setting.clone()).collect();
        for form in [Form::Shell, Form::Ansible, Form::NixOs, Form::CloudInit] {
            let _ = snippet(&settings, form);
        }
        for step in &change.steps {
            let _ = step.setting.commands();
            let _ = step.setting.options();
            let _ = step.setting.to_string();
            if let Saved::Route { entry } = &step.old {
                let _ = Entry::from_bytes(&entry.0);
            }
        }
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let _ = Setting::parse_set(text, Scope::Host);
    let _ = Setting::parse_mtu(text);
    let _ = Setting::parse_queue(text);
    let _ = Setting::parse_shape(text);
    let _ = Setting::parse_shape_ingress(text);
    let _ = Setting::parse_mss_clamp(text);
    let _ = Setting::parse_offload(text);
    let _ = Setting::parse_receive_steering(text);
    let _ = Setting::parse_transmit_steering(text);
    let _ = Setting::parse_rings(text);
    let _ = Setting::parse_channels(text);
    let _ = Setting::parse_module(text);
    let _ = Setting::parse_udp_gro_forwarding(text);
    let _ = Setting::parse_queue_length(text);
    let _ = Proof::parse(bytes);
    let _ = text.parse::<QueueOf>();
    let _ = text.parse::<Scope>();
    if let Ok(queue) = text.parse::<Queue>() {
        assert_eq!(queue.to_string().parse(), Ok(queue));
    }
});
