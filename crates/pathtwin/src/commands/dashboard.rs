//! `pathtwin dashboard`.

use std::{process::ExitCode, sync::Arc, sync::atomic::Ordering, time::Duration};

use anyhow::{Context, anyhow};
use watch::{http, page::Pages};
use web::{Access, Token};

use crate::cli::dashboard::Dashboard;
use crate::{
    document,
    exit::{Failure, code},
    format::say,
};

pub(crate) fn dashboard(arguments: &Dashboard) -> Result<ExitCode, Failure> {
    let own = arguments.listen.ip().is_loopback();
    if !own && arguments.token.is_none() {
        let why = anyhow!(
            "{} is reached from other hosts: name a file for a token with --token FILE, or listen on \
             127.0.0.1 and put a reverse proxy before it",
            arguments.listen
        );
        return Err(Failure::new(code::USE, why));
    }
    let access = Access {
        names: arguments.name.clone(),
        token: arguments.token.as_deref().map(token).transpose()?,
        literal: !own,
        any_name: false,
    };
    let place = document::place(arguments.store.as_deref())?;
    // An unusable history is reported here instead of in the browser.
    store::Store::open(&place)?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let pages = Pages::new(place, env!("CARGO_PKG_VERSION"), None);
    let bound = http::serve(arguments.listen, access, Arc::new(pages));
    let bound = bound
        .with_context(|| format!("serve on {}", arguments.listen))
        .map_err(|e| Failure::new(code::FAILED, e))?;
    say(format_args!("pages at http://{bound}/"));
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(ExitCode::SUCCESS)
}

fn token(file: &std::path::Path) -> Result<Token, Failure> {
    let random = traffic::wire::key::random().context("draw a token")?;
    let (token, made) = Token::of_file(file, random).map_err(|e| Failure::new(code::USE, e))?;
    if made {
        say(format_args!("generated a token in {}", file.display()));
    }
    Ok(token)
}
