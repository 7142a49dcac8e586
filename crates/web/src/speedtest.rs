//! The speed test for browsers: loads over WebSocket (ndt7) and HTTP (LibreSpeed), and probes. Like
//! every other load, they need a lease of the server's admission.

mod echo;
mod librespeed;
mod loads;
mod measurement;
mod ndt7;
mod socket;

use std::io;

use report::page::speedtest as page;
use traffic::admission::Admission;

use crate::{Connection, Request, Response, Service, preferred, response::Status, server::Taken};
use loads::Loads;

/// The speed test of a server.
pub struct SpeedTest {
    loads: Loads,
    program: String,
}

impl SpeedTest {
    /// Loads within an admission, and the page that runs them. `random`: makes content that cannot
    /// be compressed. `program`: version of this program.
    ///
    /// # Errors
    /// The host has no descriptors or no memory for the content.
    pub fn new(
        admission: Admission,
        random: impl FnOnce(&mut [u8]) -> io::Result<()>,
        program: &str,
    ) -> io::Result<Self> {
        Ok(Self {
            loads: Loads::new(admission, random)?,
            program: program.to_owned(),
        })
    }
}

impl Service for SpeedTest {
    fn answer(&self, request: &Request) -> Response {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::text(Status::MethodNotAllowed, "only GET\n");
        }
        match request.path.as_str() {
            "/" => Response::html(page::html(preferred(request), &self.program)),
            "/style.css" => Response::css(page::STYLE),
            "/speedtest.js" => Response::script(page::SCRIPT),
            _ => Response::text(Status::NotFound, "there is no such page\n"),
        }
    }

    fn sign_in(&self, request: &Request, wrong: bool) -> Response {
        if request.path == "/style.css" {
            return Response::css(page::STYLE);
        }
        let page = page::sign_in(preferred(request), wrong, &self.program);
        Response::html(page).status(Status::Unauthorized)
    }

    fn take(&self, request: &Request, connection: &mut Connection) -> Taken {
        let peer = connection.peer.ip().to_canonical();
        let result = match request.path.as_str() {
            "/ndt/v7/download" => ndt7::download(&self.loads, request, connection, peer),
            "/ndt/v7/upload" => ndt7::upload(&self.loads, request, connection, peer),
            "/probe" => echo::probes(&self.loads, request, connection, peer),
            path => match librespeed::endpoint(path) {
                Some(endpoint) => {
                    librespeed::serve(&self.loads, endpoint, request, connection, peer)
                }
                None => Ok(Taken::Not),
            },
        };
        // A load that is cut off ends as requested.
        result.unwrap_or(Taken::Ended)
    }
}
