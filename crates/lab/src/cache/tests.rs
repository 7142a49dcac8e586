//! All locations of the cache together, with a fake of bazel-remote.

#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use sha2::{Digest as _, Sha256};

use super::*;
use crate::guest::Cost;

struct Place {
    folder: tempfile::TempDir,
    tiers: Tiers,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("guest"), "a program").unwrap();
        let tiers = Tiers {
            own: folder.path().join("own"),
            most: 1 << 20,
            team: None,
            url: None,
            upload: true,
        };
        Self { folder, tiers }
    }

    fn cache(&self) -> Cache {
        Cache::new(self.tiers.clone(), &self.folder.path().join("guest")).unwrap()
    }
}

fn artifacts(bytes: &[u8]) -> Artifacts {
    let files = BTreeMap::from([("output.json".to_owned(), bytes.to_vec())]);
    Artifacts::new(files, Cost::default())
}

fn put(cache: &Cache, key: &blake3::Hash, bytes: &[u8]) -> Vec<CacheNote> {
    cache.put(key, &entry::encode(key, &artifacts(bytes)))
}

fn find(cache: &Cache, key: &blake3::Hash) -> Found<Vec<u8>> {
    cache.find(key, |mut files| files.take_optional("output.json"))
}

/// The result under a key, which must be found without notes.
fn clean(cache: &Cache, key: &blake3::Hash) -> Option<Vec<u8>> {
    let found = find(cache, key);
    assert!(found.notes.is_empty());
    found.result
}

fn key(text: &str) -> blake3::Hash {
    blake3::hash(text.as_bytes())
}

#[test]
fn a_stored_result_is_found_and_a_truncated_one_is_evicted_and_reported() {
    let place = Place::new();
    let cache = place.cache();
    let key = key("a job");
    assert_eq!(clean(&cache, &key), None);
    assert!(put(&cache, &key, b"0123456789").is_empty());
    assert_eq!(clean(&cache, &key).as_deref(), Some(&b"0123456789"[..]));

    let file = cache.own.file(&key);
    let text = fs::read(&file).unwrap();
    fs::write(&file, &text[..text.len() - 1]).unwrap();
    let found = find(&cache, &key);
    let place = file.display().to_string();
    let why = Damage::Checksum;
    assert!(
        matches!(&found.notes[..], [CacheNote::Damaged { place: p, why: w }] if *p == place && *w == why)
    );
    assert!(found.result.is_none() && !file.exists());
    assert_eq!(clean(&cache, &key), None);
}

#[test]
fn a_result_under_another_key_is_refused() {
    let place = Place::new();
    let cache = place.cache();
    let (one, two) = (key("one"), key("two"));
    put(&cache, &one, b"1");
    fs::create_dir_all(cache.own.file(&two).parent().unwrap()).unwrap();
    fs::rename(cache.own.file(&one), cache.own.file(&two)).unwrap();
    let found = find(&cache, &two);
    assert!(found.result.is_none());
    assert!(matches!(
        found.notes[..],
        [CacheNote::Damaged {
            why: Damage::Foreign,
            ..
        }]
    ));
}

#[test]
fn results_that_were_not_used_for_long_go_first() {
    let place = Place::new();
    let mut cache = place.cache();
    let keys: Vec<_> = ["a", "b", "c"].map(key).to_vec();
    let now = SystemTime::now();
    for (age, key) in keys.iter().enumerate() {
        put(&cache, key, &[0; 1000]);
        let time = now - Duration::from_secs(age as u64 * 100);
        let file = fs::File::options()
            .append(true)
            .open(cache.own.file(key))
            .unwrap();
        file.set_modified(time).unwrap();
    }
    // Of the first version: a folder, older than all.
    let old = place.tiers.own.join("00/0123");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("records.bin"), [0; 10]).unwrap();
    let file = fs::File::open(&old).unwrap();
    file.set_modified(now - Duration::from_secs(900)).unwrap();
    // The oldest is used.
    assert!(clean(&cache, &keys[2]).is_some());
    cache.own.most = Some(2500);
    cache.trim();
    let there: Vec<bool> = keys.iter().map(|k| cache.own.file(k).exists()).collect();
    assert_eq!(there, [true, false, true]);
    assert!(!old.exists());
}

#[test]
fn a_team_s_result_is_copied_and_the_team_s_folder_is_never_written() {
    let mut place = Place::new();
    let team = Place::new();
    let (good, bad, new) = (key("good"), key("bad"), key("new"));
    put(&team.cache(), &good, b"1");
    put(&team.cache(), &bad, b"2");
    let poisoned = team.cache().own.file(&bad);
    let mut text = fs::read(&poisoned).unwrap();
    let last = text.len() - 40;
    text[last] ^= 1;
    fs::write(&poisoned, &text).unwrap();

    place.tiers.team = Some(team.tiers.own.clone());
    let cache = place.cache();
    assert_eq!(clean(&cache, &good), Some(b"1".to_vec()));
    let found = find(&cache, &bad);
    assert!(found.result.is_none() && found.notes.len() == 1);
    put(&cache, &new, b"3");
    assert_eq!(fs::read(&poisoned).unwrap(), text);
    assert!(!team.cache().own.file(&new).exists());
    // Without the team's folder, its result exists.
    place.tiers.team = None;
    assert_eq!(clean(&place.cache(), &good), Some(b"1".to_vec()));
    place.tiers.team = Some(place.folder.path().join("not mounted"));
    assert_eq!(clean(&place.cache(), &bad), None);
}

/// A cache over HTTP. As bazel-remote, it refuses a blob under another name than its SHA-256, and
/// an action that names a blob it has not.
#[derive(Clone, Default)]
struct Server {
    kept: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    requests: Arc<AtomicUsize>,
    read_only: bool,
}

impl Server {
    fn start(self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                self.answer(stream.unwrap());
            }
        });
        address
    }

    fn answer(&self, stream: TcpStream) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut input = BufReader::new(&stream);
        let (mut head, mut length) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            if input.read_line(&mut line).unwrap() <= 2 {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            head.push(line);
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body).unwrap();
        let mut words = head[0].split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let (status, body) = self.handle(method, path, body);
        let length = body.len();
        let head = format!("HTTP/1.0 {status} x\r\nContent-Length: {length}\r\n\r\n");
        let _ = (&stream).write_all(&[head.as_bytes(), &body].concat());
    }

    fn handle(&self, method: &str, path: &str, body: Vec<u8>) -> (u16, Vec<u8>) {
        let mut kept = self.kept.lock().unwrap();
        if method == "GET" {
            return kept
                .get(path)
                .map_or((404, Vec::new()), |b| (200, b.clone()));
        }
        let (kind, name) = path.rsplit_once('/').unwrap();
        let fits = match kind {
            "/team/cas" => name == hex(&body),
            "/team/ac" => action::decode(&body)
                .is_some_and(|d| kept.contains_key(&format!("/team/cas/{}", d.sha256))),
            _ => false,
        };
        match fits {
            _ if self.read_only => (403, Vec::new()),
            false => (400, Vec::new()),
            true => {
                kept.insert(path.to_owned(), body);
                (200, Vec::new())
            }
        }
    }
}

fn hex(body: &[u8]) -> String {
    let hash = Sha256::digest(body);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn at(address: SocketAddr) -> Place {
    let mut place = Place::new();
    place.tiers.url = Some(format!("http://{address}/team").parse().unwrap());
    place
}

#[test]
fn a_result_of_one_host_is_found_by_another_over_http_and_copied() {
    let server = Server::default();
    let address = server.clone().start();
    let key = key("a job");
    assert!(put(&at(address).cache(), &key, b"0123456789").is_empty());
    assert_eq!(server.kept.lock().unwrap().len(), 2);
    let other = at(address).cache();
    assert_eq!(clean(&other, &key).as_deref(), Some(&b"0123456789"[..]));
    let requests = server.requests.load(Ordering::Relaxed);
    assert_eq!(clean(&other, &key).as_deref(), Some(&b"0123456789"[..]));
    assert_eq!(server.requests.load(Ordering::Relaxed), requests);
}

#[test]
fn poisoned_and_cut_results_of_a_server_are_not_used_and_reported() {
    let server = Server::default();
    let address = server.clone().start();
    let (key, other) = (key("a job"), key("another"));
    put(&at(address).cache(), &key, b"0123456789");
    put(&at(address).cache(), &other, b"9876543210");
    let change = |kind: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut kept = server.kept.lock().unwrap();
        for (_, body) in kept.iter_mut().filter(|(path, _)| path.contains(kind)) {
            change(body);
        }
    };
    let why = |key| match &find(&at(address).cache(), key).notes[..] {
        [CacheNote::Damaged { why, .. }] => *why,
        notes => panic!("{notes:?}"),
    };
    // The action of one job under the key of another: the blob is whole, but of another job.
    let actions: Vec<String> = [&key, &other]
        .map(|k| format!("/team/ac/{}", k.to_hex()))
        .into();
    let theirs = server.kept.lock().unwrap()[&actions[1]].clone();
    server
        .kept
        .lock()
        .unwrap()
        .insert(actions[0].clone(), theirs);
    assert_eq!(why(&key), Damage::Foreign);
    change("/cas/", &|body| body.truncate(20));
    assert_eq!(why(&other), Damage::Checksum);
    change("/ac/", &|body| body.truncate(20));
    assert_eq!(why(&other), Damage::Form);
    // A newly computed result replaces it.
    assert!(put(&at(address).cache(), &other, b"9876543210").is_empty());
    assert_eq!(
        clean(&at(address).cache(), &other),
        Some(b"9876543210".to_vec())
    );
}

#[test]
fn a_server_that_does_not_answer_is_asked_once_and_reported_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let cache = at(listener.local_addr().unwrap()).cache();
    drop(listener);
    let notes: Vec<_> = ["a", "b"]
        .into_iter()
        .flat_map(|text| find(&cache, &key(text)).notes)
        .collect();
    assert!(matches!(notes[..], [CacheNote::Remote { .. }]), "{notes:?}");
    // The user's own folder works.
    assert!(put(&cache, &key("a"), b"1").is_empty());
    assert_eq!(clean(&cache, &key("a")), Some(b"1".to_vec()));
}

#[test]
fn a_read_only_server_is_read() {
    let writable = Server::default();
    let key = key("a job");
    put(&at(writable.clone().start()).cache(), &key, b"1");
    let server = Server {
        read_only: true,
        ..writable
    };
    let cache = at(server.start()).cache();
    assert_eq!(clean(&cache, &key), Some(b"1".to_vec()));
    let notes: Vec<_> = ["b", "c"]
        .into_iter()
        .flat_map(|k| put(&cache, &super::tests::key(k), b"2"))
        .collect();
    assert!(matches!(notes[..], [CacheNote::Upload { .. }]), "{notes:?}");
}
