//! Certificates, made by OpenSSL.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use super::succeed;

/// An authority with a separate root, and the certificates it made.
pub struct Authority {
    folder: tempfile::TempDir,
    /// OpenSSL's name of the key algorithm, and its parameter.
    algorithm: [&'static str; 2],
}

impl Authority {
    pub fn new() -> Self {
        Self::with_keys(["ec", "ec_paramgen_curve:P-256"])
    }

    pub fn with_keys(algorithm: [&'static str; 2]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Self { folder, algorithm };
        // Without the extensions of the system's configuration.
        let empty = "[req]\ndistinguished_name = name\n[name]\n";
        fs::write(authority.file("openssl.cnf"), empty).unwrap();
        let extensions = [
            "basicConstraints=critical,CA:TRUE",
            "keyUsage=keyCertSign,digitalSignature",
        ];
        authority.request("root", "a root", &extensions, &[]);
        authority
    }

    /// `NAME.crt`, `NAME.key` and so on.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap()
    }

    pub fn root(&self) -> String {
        self.file("root.crt").display().to_string()
    }

    /// A certificate of version 3.
    pub fn certify(&self, name: &str, common_name: &str, alternatives: &str) {
        let alternatives = format!("subjectAltName={alternatives}");
        let extensions = ["basicConstraints=critical,CA:FALSE", &alternatives];
        let (root, key) = (self.file("root.crt"), self.file("root.key"));
        let by = [
            "-CA".as_ref(),
            root.as_path(),
            "-CAkey".as_ref(),
            key.as_path(),
        ];
        self.request(name, common_name, &extensions, &by);
    }

    /// A self-signed certificate, as by `openssl req -x509`.
    pub fn certify_itself(&self, name: &str, host: &str) {
        let alternatives = format!("subjectAltName=DNS:{host}");
        self.request(
            name,
            host,
            &["basicConstraints=critical,CA:TRUE", &alternatives],
            &[],
        );
    }

    /// A certificate without extensions, as by `openssl x509 -req`.
    pub fn certify_bare(&self, name: &str, common_name: &str) {
        let mut request = self.openssl(name, common_name);
        let csr = self.file("request.csr");
        succeed(request.args(["-new", "-out"]).arg(&csr));
        let mut sign = Command::new("openssl");
        sign.args(["x509", "-req", "-days", "2", "-in"]).arg(&csr);
        sign.arg("-CA")
            .arg(self.file("root.crt"))
            .arg("-CAkey")
            .arg(self.file("root.key"));
        succeed(
            sign.args(["-set_serial", "7", "-out"])
                .arg(self.file(&format!("{name}.crt"))),
        );
    }

    fn openssl(&self, name: &str, common_name: &str) -> Command {
        let [algorithm, parameter] = self.algorithm;
        let mut command = Command::new("openssl");
        command.args(["req", "-nodes", "-newkey", algorithm, "-pkeyopt", parameter]);
        command.args(["-subj", &format!("/CN={common_name}"), "-config"]);
        command.arg(self.file("openssl.cnf"));
        command
            .arg("-keyout")
            .arg(self.file(&format!("{name}.key")));
        command
    }

    fn request(&self, name: &str, common_name: &str, extensions: &[&str], by: &[&Path]) {
        let mut command = self.openssl(name, common_name);
        command.args(["-x509", "-days", "2"]).args(by);
        for extension in extensions {
            command.args(["-addext", extension]);
        }
        succeed(command.arg("-out").arg(self.file(&format!("{name}.crt"))));
        let key = self.file(&format!("{name}.key"));
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    }
}
