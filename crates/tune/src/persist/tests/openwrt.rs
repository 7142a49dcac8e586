//! Tests of OpenWrt's configuration files, with the real `uci`: in PATH, or that of scripts/setup.

use std::{path::PathBuf, process::Command};

use super::*;
use crate::setting_files::remove_all;

/// Configuration in the form of sqm-scripts and netifd.
const ROUTER: &[(&str, &str)] = &[
    ("etc/openwrt_release", ""),
    ("etc/init.d/sqm", ""),
    (
        "etc/config/sqm",
        "\nconfig queue 'eth9'\n\toption enabled '0'\n\toption interface 'eth9'\n\n",
    ),
    (
        "etc/config/network",
        "\nconfig interface 'wan'\n\toption device 'eth1'\n\toption proto 'dhcp'\n\n",
    ),
];

fn router() -> Scene {
    let scene = Scene::new(&[]);
    for (name, text) in ROUTER {
        let path = scene.root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scene
}

/// A shaper in both directions and an MTU.
fn shaped(ingress: &str) -> Change {
    let mut change = change(&[], &["eth1=19mbit"]);
    let step = change.steps[0].clone();
    for setting in [
        Setting::parse_shape_ingress(ingress).unwrap(),
        Setting::parse_mtu("eth1=1400").unwrap(),
    ] {
        change.steps.push(Step {
            setting,
            ..step.clone()
        });
    }
    change
}

/// The user's cache has the one that scripts/setup compiles.
fn program() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    let compiled = cache.map(|cache| cache.join("pathtwin/test/uci"));
    let compiled = compiled.filter(|file| file.exists());
    compiled.unwrap_or_else(|| "uci".into())
}

/// The output of the real `uci`; `None` without it.
fn uci(scene: &Scene, arguments: &[&str]) -> Option<String> {
    let saved = scene.root.path().join("journals/saved");
    fs::create_dir_all(&saved).unwrap();
    let output = Command::new(program())
        .arg("-c")
        .arg(scene.root.path().join("etc/config"))
        .arg("-t")
        .arg(saved)
        .args(arguments)
        .output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{arguments:?}: {output:?}");
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            println!("skipped: no uci ({error}); run: scripts/setup test");
            None
        }
    }
}

fn removed(scene: &Scene, kept: &Change) {
    let mut kept = kept.clone();
    let left = scene.act(|env, _| remove_all(env, &mut kept)).unwrap();
    assert!(left.is_empty(), "{left:?}");
    assert!(!scene.tree().keys().any(|name| name.contains("pathtwin")));
}

#[test]
fn a_shaper_and_an_mtu_become_sections_of_sqm_and_network_and_leave_no_trace() {
    let scene = router();
    let before = scene.tree();
    scene.confirmed(&shaped("eth1=95mbit"));
    let kept = scene.act(|env, root| persist(env, ID, root)).unwrap();
    let during = scene.tree();
    assert!(
        !during.keys().any(|name| name.contains("hotplug.d")),
        "{during:?}"
    );
    let keep = &during[&format!("lib/upgrade/keep.d/pathtwin-{ID}")];
    assert!(keep.contains("/lib/upgrade/keep.d/pathtwin-"), "{keep}");
    let sqm = &during["etc/config/sqm"];
    for option in [
        "interface 'eth1'",
        "upload '19000'",
        "download '95000'",
        "qdisc 'cake'",
    ] {
        assert!(sqm.contains(&format!("\toption {option}\n")), "{sqm}");
    }
    if let Some(shown) = uci(&scene, &["show", "sqm"]) {
        let name = format!("sqm.pathtwin_{ID}");
        for line in [
            "=queue",
            ".enabled='1'",
            ".upload='19000'",
            ".script='piece_of_cake.qos'",
        ] {
            assert!(shown.contains(&format!("{name}{line}")), "{shown}");
        }
        let shown = uci(&scene, &["show", "network"]).unwrap();
        assert!(
            shown.contains(&format!("network.pathtwin_{ID}_eth1.mtu='1400'")),
            "{shown}"
        );
    }
    removed(&scene, &kept);
    assert_eq!(scene.tree(), before);
}

/// `uci commit` writes the whole file anew.
#[test]
fn a_section_survives_a_commit_by_another_program_and_is_cut_afterwards() {
    let scene = router();
    scene.confirmed(&shaped("eth1=95mbit"));
    let kept = scene.act(|env, root| persist(env, ID, root)).unwrap();
    // The same commit where no section of ours ever was.
    let other = router();
    for scene in [&scene, &other] {
        if uci(scene, &["set", "sqm.eth9.enabled=1"]).is_none() {
            return;
        }
        uci(scene, &["commit", "sqm"]);
        let sqm = &scene.tree()["etc/config/sqm"];
        assert!(sqm.contains("enabled '1'"), "{sqm}");
    }
    removed(&scene, &kept);
    assert_eq!(
        scene.tree()["etc/config/sqm"],
        other.tree()["etc/config/sqm"],
        "only what others wrote is left"
    );
}

/// A commit would write unfinished changes of somebody else.
#[test]
fn changes_that_are_not_committed_yet_are_named_and_nothing_is_written() {
    let scene = router();
    let saved = scene.root.path().join("tmp/.uci/sqm");
    fs::create_dir_all(saved.parent().unwrap()).unwrap();
    fs::write(saved, "sqm.eth9.enabled='1'\n").unwrap();
    let before = scene.tree();
    scene.confirmed(&shaped("eth1=95mbit"));
    let error = scene.act(|env, root| persist(env, ID, root)).unwrap_err();
    assert!(error.to_string().contains("uci changes sqm"), "{error}");
    assert_eq!(scene.tree(), before);
}

/// sqm has one queue for both directions, and a section for a device that has one is a conflict.
#[test]
fn what_sqm_cannot_have_is_a_script_of_hotplug() {
    let scene = router();
    scene.confirmed(&shaped("eth1=95mbit fq_codel"));
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    let script = &scene.tree()[&format!("etc/hotplug.d/iface/95-pathtwin-{ID}-eth1")];
    assert!(
        script.contains("fq_codel") && !script.contains("cake"),
        "{script}"
    );

    let scene = router();
    let sqm = scene.root.path().join("etc/config/sqm");
    fs::write(&sqm, ROUTER[2].1.replace("eth9", "eth1")).unwrap();
    scene.confirmed(&shaped("eth1=95mbit"));
    scene.act(|env, root| persist(env, ID, root)).unwrap();
    let script = &scene.tree()[&format!("etc/hotplug.d/iface/95-pathtwin-{ID}-eth1")];
    assert!(script.contains("cake"), "{script}");
    assert!(!script.contains("mtu"), "the MTU has a section");
}
