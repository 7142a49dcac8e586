//! Segments of a spec as a Kubernetes Indexed Job.
//!
//! Kubernetes passes each pod of such a Job its number in `JOB_COMPLETION_INDEX` (Kubernetes
//! documentation, "Indexed Job for Parallel Processing with Static Work Assignment"), which
//! identifies a segment: pods are independent. All write to one volume claim.

use model::{cell::Cell, spec::NamedFile};
use serde_json::{Value, json};

use crate::cell::memory_mb;

/// Maximum size of a ConfigMap (Kubernetes documentation, "ConfigMaps": 1 MiB), less the other
/// fields.
const MAX_SPEC: usize = (1 << 20) - 4096;

/// Name of the spec in a ConfigMap.
const SPEC: &str = "spec.toml";

/// Returns true if a ConfigMap can have a file of this name beside the spec: 1 to 253 letters,
/// digits, `-`, `_` and `.`, and not `.` or `..` at its start (Kubernetes documentation,
/// "ConfigMaps"; apimachinery's `IsConfigMapKey`).
fn is_key(name: &str) -> bool {
    let inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    (1..=253).contains(&name.len())
        && name.bytes().all(inner)
        && name != "."
        && !name.starts_with("..")
        && name != SPEC
}

/// Name of a Kubernetes object: a DNS label (RFC 1123), 1 to 63 lower-case letters, digits and
/// inner hyphens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName(String);

/// Error making a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Kubernetes refuses the name.
    #[error(
        "\"{0}\" is no name of a Kubernetes object: 1 to 63 lower-case letters, digits and inner hyphens"
    )]
    Name(String),
    /// The spec, with the files that it names, does not fit into a ConfigMap.
    #[error("the spec has {0} bytes, and a ConfigMap holds 1 MiB: put the spec into the image")]
    Size(usize),
    /// The spec names a file that cannot be in a ConfigMap beside it: one in a folder.
    #[error(
        "the spec names {0}, and a ConfigMap has neither folders nor such names: put the file beside the spec"
    )]
    File(String),
}

impl std::str::FromStr for ObjectName {
    type Err = ManifestError;

    fn from_str(text: &str) -> Result<Self, ManifestError> {
        let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let fits = (1..=63).contains(&text.len())
            && text.bytes().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-');
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(ManifestError::Name(text.to_owned())),
        }
    }
}

/// A Job to be.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Its name, and that of its ConfigMap.
    pub name: &'a ObjectName,
    /// Container image with `pathtwin`, its guest program and the kernel image.
    pub image: &'a str,
    /// The volume claim that takes the results; all pods write to it.
    pub claim: &'a ObjectName,
    /// Number of segments.
    pub segments: usize,
    /// Pods at once.
    pub parallel: usize,
    /// Text of the spec.
    pub spec: &'a str,
    /// The files that it names.
    pub named: &'a [NamedFile],
    /// All cells of the spec.
    pub cells: &'a [Cell],
    /// Further arguments of `lab run`: `--set`, `--seed`.
    pub arguments: &'a [String],
}

impl Job<'_> {
    /// The ConfigMap with the spec and the Job, as one `List` for `kubectl apply -f -`.
    ///
    /// # Errors
    /// The spec is too large for a ConfigMap, or names a file that cannot be in one.
    pub fn manifest(&self) -> Result<Value, ManifestError> {
        let named = self.named.iter().map(|file| file.text.len());
        let size = self.spec.len() + named.sum::<usize>();
        if size > MAX_SPEC {
            return Err(ManifestError::Size(size));
        }
        if let Some(file) = self.named.iter().find(|file| !is_key(&file.name)) {
            return Err(ManifestError::File(file.name.clone()));
        }
        Ok(json!({
            "apiVersion": "v1",
            "kind": "List",
            "items": [self.config_map(), self.job()],
        }))
    }

    fn config_map(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self.name.0},
            "data": self.data(),
        })
    }

    /// The spec and the files that it names, which become files of one folder.
    fn data(&self) -> Value {
        let named = self.named.iter().map(|file| (&*file.name, &*file.text));
        let all = named.chain([(SPEC, self.spec)]);
        all.map(|(name, text)| (name.to_owned(), Value::from(text)))
            .collect()
    }

    fn job(&self) -> Value {
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": self.name.0},
            "spec": {
                "completionMode": "Indexed",
                "completions": self.segments,
                "parallelism": self.parallel.min(self.segments),
                // A lost node costs its segment one try; other segments continue.
                "backoffLimitPerIndex": 3,
                "template": {"spec": {
                    "restartPolicy": "Never",
                    "containers": [self.container()],
                    "volumes": [
                        {"name": "spec", "configMap": {"name": self.name.0}},
                        {"name": "results", "persistentVolumeClaim": {"claimName": self.claim.0}},
                        // The guest's memory; that of a container is 64 MiB by default.
                        {"name": "memory", "emptyDir": {"medium": "Memory"}},
                    ],
                }},
            },
        })
    }

    /// The name of the rows as an argument, since by default it is that of the spec's file, which
    /// has another one in a pod. Quoted, so that digits are a name.
    fn name_of_rows(&self) -> Vec<String> {
        let cells = self.cells.iter().take(1);
        cells
            .flat_map(|cell| ["--set".to_owned(), format!("name=\"{}\"", cell.name)])
            .collect()
    }

    fn container(&self) -> Value {
        // The arguments are passed as $1, $2, …, so that the shell does not interpret them.
        let command = format!(
            "exec pathtwin lab run /spec/spec.toml \"$@\" --segment \"$((JOB_COMPLETION_INDEX + 1))/{}\" \
             --out /results --resume --jobs 1 --no-cache --output jsonl > /dev/null",
            self.segments
        );
        let mut arguments = vec!["-c".to_owned(), command, "segment".to_owned()];
        arguments.extend(self.name_of_rows());
        arguments.extend(self.arguments.iter().cloned());
        let guest = self.cells.iter().map(memory_mb).max().unwrap_or(0);
        json!({
            "name": "segment",
            "image": self.image,
            "command": ["sh"],
            "args": arguments,
            "resources": {
                "requests": {"cpu": "1", "memory": "256Mi"},
                // A guest takes only the memory it uses, which is mostly far less.
                "limits": {"memory": format!("{}Mi", guest + 256)},
            },
            "volumeMounts": [
                {"name": "spec", "mountPath": "/spec", "readOnly": true},
                {"name": "results", "mountPath": "/results"},
                {"name": "memory", "mountPath": "/dev/shm"},
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::spec::Spec;

    use super::*;

    fn manifest(spec: &str, segments: usize, arguments: &[String]) -> Result<Value, ManifestError> {
        with_named(spec, &[], segments, arguments)
    }

    fn with_named(
        spec: &str,
        named: &[NamedFile],
        segments: usize,
        arguments: &[String],
    ) -> Result<Value, ManifestError> {
        let cells = Spec::parse("spec", "[path]\nrtt = \"10ms\"\n").unwrap();
        Job {
            name: &"sweep".parse().unwrap(),
            image: "registry.example/pathtwin:1",
            claim: &"results".parse().unwrap(),
            segments,
            parallel: 10,
            spec,
            named,
            cells: &cells.cells().unwrap(),
            arguments,
        }
        .manifest()
    }

    #[test]
    fn every_segment_is_the_job_of_one_index() {
        let manifest = manifest("x = 1", 7, &[]).unwrap();
        let [map, job] = [0, 1].map(|n| manifest["items"][n].clone());
        assert_eq!(map["data"]["spec.toml"], "x = 1");
        let spec = &job["spec"];
        assert_eq!(spec["completionMode"], "Indexed");
        assert_eq!(
            (&spec["completions"], &spec["parallelism"]),
            (&json!(7), &json!(7))
        );
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["restartPolicy"], "Never");
        // Every mount has a volume of its name.
        let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
        let volumes = pod["volumes"].as_array().unwrap();
        for mount in mounts {
            assert!(
                volumes.iter().any(|v| v["name"] == mount["name"]),
                "{mount}"
            );
        }
    }

    /// Tested with the shell itself: it runs the container's command with a `pathtwin` that prints
    /// its arguments.
    #[test]
    fn the_shell_passes_segment_and_arguments_unchanged() {
        let given = ["--set", "name=$(reboot) 'a' \"b\" \\"].map(str::to_owned);
        let manifest = manifest("", 7, &given).unwrap();
        let container = manifest["items"][1]["spec"]["template"]["spec"]["containers"][0].clone();
        let folder = tempfile::tempdir().unwrap();
        let message = folder.path().join("said");
        let program = folder.path().join("pathtwin");
        let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >{}\n", message.display());
        std::fs::write(&program, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let arguments = container["args"].as_array().unwrap();
        let status = std::process::Command::new("/bin/sh")
            .args(arguments.iter().map(|a| a.as_str().unwrap()))
            .env("PATH", folder.path())
            .env("JOB_COMPLETION_INDEX", "6")
            .status()
            .unwrap();
        assert!(status.success());
        let message = std::fs::read_to_string(message).unwrap();
        let message: Vec<_> = message.lines().collect();
        assert_eq!(message[..3], ["lab", "run", "/spec/spec.toml"]);
        assert_eq!(message[3..5], ["--set", "name=\"spec\""]);
        assert_eq!(message[5..7], given);
        assert_eq!(message[7..10], ["--segment", "7/7", "--out"]);
    }

    /// In a pod its file is `spec.toml`.
    #[test]
    fn rows_of_a_spec_without_a_name_have_the_name_of_its_file_in_pods_too() {
        let text = "[path]\nrtt = \"10ms\"\n";
        for (file, given) in [
            ("sweep.toml", vec![]),
            ("2026.toml", vec![]),
            ("sweep.toml", vec!["path.rtt=20ms", "name=other"]),
        ] {
            let set_all = |file: &str, settings: &[&str]| {
                let mut spec = Spec::parse(file, text).unwrap();
                for setting in settings {
                    let (key, value) = setting.split_once('=').unwrap();
                    spec.set(key, value).unwrap();
                }
                spec.cells().unwrap()
            };
            let cells = set_all(file, &given);
            let arguments: Vec<String> = given
                .iter()
                .flat_map(|set| ["--set", set])
                .map(str::to_owned)
                .collect();
            let container = Job {
                name: &"sweep".parse().unwrap(),
                image: "i",
                claim: &"results".parse().unwrap(),
                segments: 1,
                parallel: 1,
                spec: text,
                named: &[],
                cells: &cells,
                arguments: &arguments,
            }
            .container();
            let passed = container["args"].as_array().unwrap();
            let passed: Vec<_> = passed[3..].iter().map(|a| a.as_str().unwrap()).collect();
            let settings: Vec<_> = passed.iter().copied().filter(|a| *a != "--set").collect();
            assert_eq!(set_all("/spec/spec.toml", &settings), cells, "{passed:?}");
        }
    }

    #[test]
    fn names_that_kubernetes_refuses_are_refused() {
        for name in ["", "A", "a_b", "-a", "a-", "a.b", &"a".repeat(64)] {
            assert!(name.parse::<ObjectName>().is_err(), "{name}");
        }
        assert!("a-1".parse::<ObjectName>().is_ok());
    }

    #[test]
    fn a_trace_is_in_the_config_map_beside_its_spec() {
        let file = |name: &str| NamedFile {
            name: name.to_owned(),
            text: "seconds,mbit\n0,5\n".to_owned(),
        };
        let given = with_named("x = 1", &[file("lte.csv")], 1, &[]).unwrap();
        let data = &given["items"][0]["data"];
        assert_eq!(data["lte.csv"], "seconds,mbit\n0,5\n");
        assert_eq!(data["spec.toml"], "x = 1");
        for name in [
            "traces/lte.csv",
            "/lte.csv",
            "../lte.csv",
            "..",
            "a b",
            "spec.toml",
        ] {
            let refused = with_named("", &[file(name)], 1, &[]);
            assert_eq!(refused, Err(ManifestError::File(name.to_owned())));
        }
    }

    #[test]
    fn a_spec_that_no_config_map_holds_is_refused() {
        let spec = "#".repeat(1 << 20);
        assert_eq!(manifest(&spec, 1, &[]), Err(ManifestError::Size(1 << 20)));
    }
}
