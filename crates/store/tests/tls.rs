//! TLS to a server of PostgreSQL, which reports itself whether it is used.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

mod common;

use std::{
    fs,
    process::{Command, Stdio},
};

use common::*;
use model::history::Kind;
use store::{Place, Saved, Store};

/// Environment variable with the history that the child process of a test opens.
const URL: &str = "PATHTWIN_TEST_URL";

/// Access rules: passwords for `locked`, certificates for `certified`.
const ACCESS: &[u8] = b"
local   all       all               trust
hostssl locked    all 127.0.0.1/32  scram-sha-256
hostssl certified all 127.0.0.1/32  cert
host    all       all 127.0.0.1/32  trust
";

/// A server that shows the certificate `name` of an authority.
fn server(authority: &Authority, name: &str) -> Server {
    server_with(authority, name, &[])
}

fn server_with(authority: &Authority, name: &str, settings: &[&str]) -> Server {
    let [certificate, key] = ["crt", "key"].map(|end| authority.read(&format!("{name}.{end}")));
    let server = Server::start_on_tcp(
        &[&["ssl=on", "ssl_ca_file=root.crt"], settings].concat(),
        &[
            ("server.crt", &certificate),
            ("server.key", &key),
            ("root.crt", &authority.read("root.crt")),
            ("pg_hba.conf", ACCESS),
        ],
    );
    server.database("runs");
    server
}

fn try_open(url: &str) -> Result<Store, String> {
    Store::open(&Place::parse(url).unwrap()).map_err(|e| e.to_string())
}

fn open(url: &str) -> Store {
    try_open(url).unwrap_or_else(|e| panic!("{url}: {e}"))
}

/// Opens it; whether the server has TLS on this one connection.
fn encrypted(server: &Server, url: &str) -> bool {
    let mut store = open(url);
    assert_ne!(store.save(&run(1, 94e6, "6.12")).ok(), None);
    let mut client = server.client("runs").unwrap();
    let statement = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'pathtwin'";
    let rows = loop {
        // The connection before may still be closing.
        let rows = client.query(statement, &[]).unwrap();
        if rows.len() <= 1 {
            break rows;
        }
        std::thread::yield_now();
    };
    drop(store);
    rows.first().unwrap().get(0)
}

fn refused(url: &str, parts: &[&str]) {
    let error = try_open(url)
        .err()
        .unwrap_or_else(|| panic!("{url} is accepted"));
    for word in parts {
        assert!(error.contains(word), "{url}: {error}");
    }
}

#[test]
fn tls_is_used_where_it_is_wanted() {
    let authority = Authority::new();
    authority.certify(
        "server",
        "db.test",
        "DNS:db.test,DNS:*.db.test,IP:127.0.0.1",
    );
    let server = server(&authority, "server");
    let url = |host: &str, query: &str| server.url_on_tcp(host, "runs", query);
    let root = authority.root();

    assert!(
        encrypted(&server, &url("db.test", "")),
        "prefer is the default"
    );
    assert!(encrypted(&server, &url("db.test", "sslmode=require")));
    assert!(!encrypted(&server, &url("db.test", "sslmode=disable")));
    let socket = format!("{}&sslmode=require", server.url("runs"));
    assert!(!encrypted(&server, &socket));

    // Documents larger than a record of TLS go both ways.
    let mut store = open(&url("db.test", "sslmode=require"));
    let large = noise(2, 3_000_000);
    assert_eq!(store.save(&large).unwrap(), Saved::Added);
    assert_eq!(store.body(Kind::Advice, &large.id).unwrap(), large.body);
    drop(store);

    let full = format!("sslmode=verify-full&sslrootcert={root}");
    assert!(encrypted(&server, &url("db.test", &full)));
    assert!(encrypted(&server, &url("one.db.test", &full)));
    assert!(encrypted(&server, &url("127.0.0.1", &full)));
    let alone = format!(
        "postgres:///runs?user=pathtwin&hostaddr=127.0.0.1&port={}&{full}",
        server.port
    );
    assert!(encrypted(&server, &alone), "hostaddr alone");
    refused(
        &url("other.test", &full),
        &[
            "for db.test, *.db.test, 127.0.0.1, not for other.test",
            "sslmode=verify-ca",
        ],
    );
    let ca = format!("sslmode=verify-ca&sslrootcert={root}");
    assert!(encrypted(&server, &url("other.test", &ca)));

    let stranger = Authority::new();
    for mode in [
        "sslmode=verify-full",
        "sslmode=verify-ca",
        "sslmode=require",
        "sslmode=prefer",
    ] {
        let query = format!("{mode}&sslrootcert={}", stranger.root());
        refused(
            &url("db.test", &query),
            &["no root in", &stranger.root(), "sslrootcert=FILE"],
        );
    }
    refused(
        &url("db.test", "sslrootcert=system"),
        &["no root of this host", "sslrootcert=FILE"],
    );
}

/// RSA keys, and TLS 1.2, the newest that OpenSSL knew before 1.1.1.
#[test]
fn an_older_server_is_verified_too() {
    let authority = Authority::with_keys(["rsa", "rsa_keygen_bits:2048"]);
    authority.certify("server", "db.test", "DNS:db.test");
    let server = server_with(&authority, "server", &["ssl_max_protocol_version=TLSv1.2"]);
    let root = authority.root();
    for mode in ["sslmode=require", "sslmode=verify-full"] {
        let query = format!("{mode}&sslrootcert={root}");
        assert!(encrypted(
            &server,
            &server.url_on_tcp("db.test", "runs", &query)
        ));
    }
    let full = format!("sslmode=verify-full&sslrootcert={root}");
    let other = server.url_on_tcp("other.test", "runs", &full);
    refused(&other, &["for db.test, not for other.test"]);
}

/// The roots of this system are named by a variable, which must not change under other tests.
#[test]
fn the_roots_of_the_system_are_trusted() {
    let authority = Authority::new();
    authority.certify("server", "db.test", "DNS:db.test");
    let server = server(&authority, "server");
    let opens = |host: &str| {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "opens_by_the_roots_of_the_system", "--ignored"])
            .env("SSL_CERT_FILE", authority.root())
            .env(URL, server.url_on_tcp(host, "runs", "sslrootcert=system"))
            .stdout(Stdio::null())
            .status();
        status.unwrap().success()
    };
    assert!(opens("db.test"));
    assert!(!opens("other.test"));
}

#[test]
#[ignore = "a part of the test of the system's roots"]
fn opens_by_the_roots_of_the_system() {
    if let Ok(url) = std::env::var(URL) {
        drop(open(&url));
    }
}

#[test]
fn a_server_without_tls_is_used_if_that_will_do() {
    let server = Server::start_on_tcp(&[], &[]);
    server.database("runs");
    let url = |query: &str| server.url_on_tcp("localhost", "runs", query);
    assert!(!encrypted(&server, &url("")));
    assert!(!encrypted(&server, &url("sslmode=prefer")));
    let authority = Authority::new();
    let root = authority.root();
    let full = format!("sslmode=verify-full&sslrootcert={root}");
    let ca = format!("sslmode=verify-ca&sslrootcert={root}");
    for query in ["sslmode=require", &ca, &full] {
        refused(&url(query), &["does not offer TLS", "sslmode=prefer"]);
    }
}

#[test]
fn a_server_may_have_signed_itself() {
    let authority = Authority::new();
    authority.certify_itself("server", "db.test");
    authority.certify_itself("same", "db.test");
    let server = server(&authority, "server");
    let full = |host: &str, name: &str| {
        let root = authority.file(&format!("{name}.crt"));
        let query = format!("sslmode=verify-full&sslrootcert={}", root.display());
        server.url_on_tcp(host, "runs", &query)
    };
    assert!(encrypted(&server, &full("db.test", "server")));
    refused(
        &full("other.test", "server"),
        &["for db.test, not for other.test"],
    );
    // Another key under the same name.
    refused(&full("db.test", "same"), &["sslrootcert"]);
}

/// `openssl x509 -req` makes them, and PostgreSQL's manual has it so.
#[test]
fn a_certificate_of_version_1_encrypts() {
    let authority = Authority::new();
    authority.certify_bare("server", "db.test");
    let server = server(&authority, "server");
    assert!(encrypted(
        &server,
        &server.url_on_tcp("db.test", "runs", "sslmode=require")
    ));
    let full = format!("sslmode=verify-full&sslrootcert={}", authority.root());
    refused(
        &server.url_on_tcp("db.test", "runs", &full),
        &["certificate"],
    );
}

#[test]
fn clients_show_certificates_and_bind_passwords() {
    let authority = Authority::new();
    authority.certify("server", "db.test", "DNS:db.test");
    authority.certify("client", "pathtwin", "email:x@db.test");
    authority.certify("other", "other", "email:y@db.test");
    let server = server(&authority, "server");
    server.database("certified");
    server.database("locked");

    let identity = |certificate: &str, key: &str| {
        let [certificate, key] = [certificate, key].map(|name| authority.file(name));
        let files = format!("sslcert={}&sslkey={}", certificate.display(), key.display());
        server.url_on_tcp("db.test", "certified", &format!("sslmode=require&{files}"))
    };
    drop(open(&identity("client.crt", "client.key")));
    refused(&identity("other.crt", "other.key"), &["pathtwin"]);
    let bare = server.url_on_tcp("db.test", "certified", "sslmode=require");
    refused(&bare, &["client certificate"]);
    refused(
        &identity("client.crt", "other.key"),
        &["do not go together"],
    );
    refused(
        &identity("client.crt", "none.key"),
        &["sslkey=", "none.key: not found"],
    );
    refused(
        &identity("client.crt", "client.crt"),
        &["others may read it"],
    );

    let mut client = server.client("runs").unwrap();
    client
        .batch_execute("ALTER ROLE pathtwin PASSWORD 'se?cr@et'")
        .unwrap();
    let locked = |password: &str| {
        let url = server.url_on_tcp(
            "db.test",
            "locked",
            "sslmode=require&channel_binding=require",
        );
        url.replace("pathtwin@", &format!("pathtwin:{password}@"))
    };
    drop(open(&locked("se%3Fcr%40et")));
    let error = try_open(&locked("wrong5ecret")).err().unwrap();
    assert!(
        error.contains("password") && !error.contains("wrong5ecret"),
        "{error}"
    );
}

#[test]
fn files_of_no_use_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("empty.pem"), "").unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    fs::write(at("broken.pem"), broken).unwrap();
    let server = Server::start_on_tcp(&[], &[]);
    for (name, reason) in [
        ("missing.pem", "missing.pem: not found"),
        ("empty.pem", "no certificate"),
        ("broken.pem", "broken.pem"),
        (".", "directory"),
    ] {
        let query = format!("sslmode=verify-full&sslrootcert={}", at(name));
        let url = server.url_on_tcp("db.test", "postgres", &query);
        refused(&url, &["sslrootcert=", &at(name), reason]);
    }
}
