//! What a watch may ask of root: `tune recheck`, with the real transaction in a namespace.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::Path,
};

use model::{change::ChangeId, text};
use watch::undo::{REQUEST, REQUEST_SCHEMA, Request};

use super::{ECN, ecn, namespace, tune};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A state of a watch, a config that permits some changes, and journals.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        mode(&folder.path().join("state"), 0o700);
        Self { folder }
    }

    fn permit(&self, change: &str) {
        let text = format!(
            "state = {:?}\n[[path]]\nhost = \"192.0.2.1\"\nundo_when_useless = [{change:?}]\n",
            self.folder.path().join("state")
        );
        fs::write(self.config(), text).unwrap();
        mode(&self.config(), 0o644);
    }

    fn config(&self) -> std::path::PathBuf {
        self.folder.path().join("watch.toml")
    }

    fn request(&self) -> std::path::PathBuf {
        self.folder.path().join("state").join(REQUEST)
    }

    fn ask(&self, change: &str) {
        let request = Request {
            schema: REQUEST_SCHEMA,
            change: change.parse().unwrap(),
            asked_us: 1,
            reason: text!("unknown"),
            figures: Vec::new(),
        };
        fs::write(self.request(), serde_json::to_vec(&request).unwrap()).unwrap();
        mode(&self.request(), 0o600);
    }

    fn tune(&self, arguments: &[&str]) -> (Option<i32>, String) {
        tune(&self.folder.path().join("journal"), arguments)
    }

    fn recheck(&self) -> (Option<i32>, String) {
        self.tune(&["recheck", "--config", self.config().to_str().unwrap()])
    }

    /// The only change, with its state.
    fn change(&self) -> (String, serde_json::Value) {
        let (_, list) = self.tune(&["list", "--output", "json"]);
        let all: serde_json::Value = serde_json::from_str(&list).unwrap();
        (all[0]["id"].as_str().unwrap().to_owned(), all[0].clone())
    }
}

#[test]
fn a_request_undoes_only_a_kept_change_that_the_config_names() {
    if !namespace() {
        return;
    }
    let scene = Scene::new();
    let before = ecn();
    let refused = |why: &str| {
        let (code, message) = scene.recheck();
        assert!(matches!(code, Some(2 | 3)), "{code:?} {message}");
        assert!(message.contains(why), "{message}");
    };
    let (code, message) = scene.tune(&["apply", ECN[0], ECN[1], "--window", "60s"]);
    assert_eq!(code, Some(0), "{message}");
    let (id, _) = scene.change();
    scene.permit(&id[..8]);
    assert_eq!(scene.recheck().0, Some(0), "no request");

    // It waits for its confirmation: that is its user's.
    scene.ask(&id);
    refused("waits for its confirmation");
    let (code, message) = scene.tune(&["confirm"]);
    assert_eq!(code, Some(0), "{message}");
    let kept = ecn();
    assert_ne!(kept, before);

    // Another change, and one that the config does not name.
    let other = ChangeId::from_random([9; 16]).to_string();
    scene.ask(&other);
    refused("undo_when_useless");
    scene.permit(&other);
    refused("no change");
    scene.ask(&id);
    refused("undo_when_useless");
    scene.permit(&id);

    // Not the watch's own file.
    mode(&scene.request(), 0o666);
    refused("is refused");
    mode(&scene.request(), 0o600);
    chown(scene.request(), Some(12_345), None).unwrap();
    refused("is refused");
    chown(scene.request(), Some(0), None).unwrap();
    let moved = scene.folder.path().join("moved");
    fs::rename(scene.request(), &moved).unwrap();
    symlink(&moved, scene.request()).unwrap();
    refused("undo-request.json");
    fs::remove_file(scene.request()).unwrap();
    fs::rename(&moved, scene.request()).unwrap();

    // The config of somebody else.
    mode(&scene.config(), 0o664);
    refused("is refused");
    mode(&scene.config(), 0o644);
    chown(scene.config(), Some(12_345), None).unwrap();
    refused("is refused");
    chown(scene.config(), Some(0), None).unwrap();
    assert_eq!(ecn(), kept, "nothing was undone so far");

    let (code, message) = scene.recheck();
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), before);
    let (_, change) = scene.change();
    assert_eq!(change["state"]["is"], "rolled_back", "{change}");
    assert!(
        change["undone_because"]
            .to_string()
            .contains("no longer helps")
    );
    let (code, message) = scene.recheck();
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("undone already"), "{message}");
}

/// The folder of the state belongs to the user of the watch, and so does the request.
#[test]
fn a_request_of_the_user_of_the_watch_is_followed() {
    if !namespace() {
        return;
    }
    let scene = Scene::new();
    let before = ecn();
    let (code, message) = scene.tune(&["apply", ECN[0], ECN[1]]);
    assert_eq!(code, Some(0), "{message}");
    let (code, message) = scene.tune(&["confirm"]);
    assert_eq!(code, Some(0), "{message}");
    let (id, _) = scene.change();
    scene.permit(&id[..8]);
    scene.ask(&id);
    for path in [scene.folder.path().join("state"), scene.request()] {
        chown(path, Some(12_345), Some(12_345)).unwrap();
    }
    let (code, message) = scene.recheck();
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), before);
}
