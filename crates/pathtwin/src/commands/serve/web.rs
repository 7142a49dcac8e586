//! `pathtwin serve --web`: the speed test for browsers.

use std::{
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
};

use anyhow::{Context, anyhow};
use traffic::admission::Admission;
use web::{Access, Options, Token, speedtest::SpeedTest};

use crate::cli::serve::Serve;
use crate::{
    exit::{Failure, code},
    format::say,
};

/// Maximum concurrent connections: LibreSpeed uses six for a load, plus pings.
const CONNECTIONS: usize = 128;

/// Sockets and access rules of a speed test.
pub(super) struct Web {
    listeners: Vec<TcpListener>,
    access: Access,
}

/// Opens the sockets and reads the token, while it has the privileges for it.
pub(super) fn bind(arguments: &Serve) -> Result<Option<Web>, Failure> {
    let Some(port) = arguments.web else {
        return Ok(None);
    };
    let token = match arguments.open {
        true => None,
        false => Some(token(arguments)?),
    };
    let everywhere = [IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
    let addresses: &[IpAddr] = match arguments.listen.is_empty() {
        true => &everywhere,
        false => &arguments.listen,
    };
    let listen = |ip: &IpAddr| {
        let address = SocketAddr::new(*ip, port);
        let bound = TcpListener::bind(address);
        bound.with_context(|| format!("serve the speed test on {address}"))
    };
    let listeners = addresses.iter().map(listen).collect::<Result<_, _>>();
    Ok(Some(Web {
        listeners: listeners.map_err(|e| Failure::new(code::FAILED, e))?,
        access: Access {
            token,
            // Nothing secret is served, so DNS rebinding is harmless.
            any_name: true,
            ..Access::default()
        },
    }))
}

fn token(arguments: &Serve) -> Result<Token, Failure> {
    let beside = || Some(measure::key::default_file()?.with_file_name("web-token"));
    let file: Option<PathBuf> = arguments.web_token.clone().or_else(beside);
    let file = file.ok_or_else(|| {
        let why = anyhow!("no home folder for the token: name a file with --web-token FILE");
        Failure::new(code::USE, why)
    })?;
    if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
        sys::files::make_private_folder(folder).with_context(|| folder.display().to_string())?;
    }
    let random = traffic::wire::key::random().context("draw a token")?;
    let (token, _) = Token::of_file(&file, random).map_err(|e| Failure::new(code::USE, e))?;
    say(format_args!(
        "the token of the speed test is in {}",
        file.display()
    ));
    Ok(token)
}

impl Web {
    /// Starts serving.
    pub(super) fn start(self, admission: Admission) -> Result<(), Failure> {
        let random = |content: &mut [u8]| -> io::Result<()> {
            for piece in content.chunks_mut(256) {
                let bytes: [u8; 256] = traffic::wire::key::random()?;
                piece.copy_from_slice(&bytes[..piece.len()]);
            }
            Ok(())
        };
        let test = SpeedTest::new(admission, random, env!("CARGO_PKG_VERSION"));
        let test = Arc::new(test.context("prepare the speed test")?);
        for listener in self.listeners {
            let options = Options {
                access: self.access.clone(),
                connections: CONNECTIONS,
            };
            let bound = web::serve(listener, options, test.clone()).context("start a thread")?;
            say(format_args!("speed test at http://{bound}/"));
        }
        Ok(())
    }
}
