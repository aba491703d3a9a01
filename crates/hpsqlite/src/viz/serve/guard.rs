//! Who may ask, and what every answer says to the browser.
//!
//! * The first part of every path is a random token of 128 bits. With another one there is nothing.
//! * The Host header names this server: a site whose name suddenly leads to 127.0.0.1 is refused.
//! * What changes something (any method but GET) comes from a page of this server, or from no page,
//!   and is JSON, which a form of another site cannot send.
//! * No answer is kept, framed, or taken for another type; a page may load from this server only.
//!
//! The browser is started with an address that is good for one request, since everybody on the
//! machine may see with what arguments a process was started; it is answered with the real address.

use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Request, Response, StatusCode, Uri};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use super::{Limits, Refusal, local};

/// What an answer that is no page lets the browser do: nothing. See [`policy`].
const NOTHING: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// What the page may load: from here, and the one script that has the nonce.
pub fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data: \
         blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// 128 random bits as 32 digits.
pub fn random() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    let differ = a
        .bytes()
        .zip(b.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differ) == 0
}

/// What the server knows of those who may ask.
pub struct Guard {
    token: String,
    port: u16,
    limits: Limits,
    /// Is answered with the token, and then forgotten; or after a while.
    once: Mutex<Option<(String, Instant)>>,
}

impl Guard {
    pub fn new(port: u16, limits: Limits) -> Result<Guard> {
        Ok(Guard {
            token: random()?,
            port,
            limits,
            once: Mutex::new(None),
        })
    }

    pub fn address(&self) -> String {
        format!("http://{}/{}/", local(self.port), self.token)
    }

    pub fn address_for_once(&self) -> Result<String> {
        let once = random()?;
        if let Ok(mut place) = self.once.lock() {
            *place = Some((once.clone(), Instant::now()));
        }
        Ok(format!("http://{}/{once}", local(self.port)))
    }

    /// Answers a request.
    pub async fn answer(
        &self,
        request: Request<Incoming>,
        routes: &TowerToHyperService<Router>,
    ) -> Result<Response<Body>, Infallible> {
        let admitted = self.admit(request).await;
        let refused = admitted.is_err();
        let mut response = match admitted {
            Ok(request) => match routes.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(response) => *response,
        };
        let headers = response.headers_mut();
        if refused {
            // Who does not know the token is not to keep others waiting.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        for (name, value) in ALWAYS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static(NOTHING));
        Ok(response)
    }

    /// The request as it is below the token, with its whole body; or what is answered instead.
    async fn admit(
        &self,
        request: Request<Incoming>,
    ) -> Result<Request<Body>, Box<Response<Body>>> {
        let (mut head, body) = request.into_parts();
        let refuse = |refusal: Refusal| Box::new(refusal.into_response());
        self.check_host(&head.uri, &head.headers).map_err(refuse)?;
        head.uri = self.below_token(&head.uri)?;
        self.check_origin(&head.method, &head.headers)
            .map_err(refuse)?;
        let body = to_bytes(Body::new(body), self.limits.body_bytes);
        let body = match tokio::time::timeout(self.limits.body, body).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                let what = "the request is too large, or was cut off";
                return Err(refuse(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, what)));
            }
            Err(_) => {
                let what = "the request did not come to its end";
                return Err(refuse(Refusal::new(StatusCode::REQUEST_TIMEOUT, what)));
            }
        };
        Ok(Request::from_parts(head, Body::from(body)))
    }

    /// Whether this is a name of this server.
    fn is_host(&self, host: &str) -> bool {
        ["127.0.0.1", "localhost"].iter().any(|name| {
            host.strip_prefix(name).is_some_and(|rest| {
                rest == format!(":{}", self.port) || (rest.is_empty() && self.port == 80)
            })
        })
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let named = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().is_ok_and(|host| self.is_host(host)),
            _ => false,
        };
        // A request to a proxy has the host in its address.
        let addressed = uri.authority().is_none_or(|a| self.is_host(a.as_str()));
        if named && addressed {
            Ok(())
        } else {
            Err(Refusal::forbidden("this server is asked by another name"))
        }
    }

    /// The address without the token.
    fn below_token(&self, uri: &Uri) -> Result<Uri, Box<Response<Body>>> {
        let nothing = || Refusal::not_found("there is nothing here").into_response();
        let path = uri.path().strip_prefix('/').unwrap_or_default();
        let Some((token, rest)) = path.split_once('/') else {
            let leads_here = self.is_once(path) || same(path, &self.token);
            let address = leads_here.then(|| format!("/{}/", self.token));
            return Err(Box::new(match address {
                Some(address) => {
                    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
                }
                None => nothing(),
            }));
        };
        if !same(token, &self.token) {
            return Err(Box::new(nothing()));
        }
        let below = match uri.query() {
            Some(query) => format!("/{rest}?{query}"),
            None => format!("/{rest}"),
        };
        below.parse().map_err(|_| Box::new(nothing()))
    }

    /// Whether this is the address that is good for one request, which it then was.
    fn is_once(&self, path: &str) -> bool {
        let Ok(mut once) = self.once.lock() else {
            return false;
        };
        let is = once
            .as_ref()
            .is_some_and(|(once, since)| same(once, path) && since.elapsed() < self.limits.once);
        if is {
            *once = None;
        }
        is
    }

    fn check_origin(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        if matches!(*method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        let own = |origin: &HeaderValue| {
            let origin = origin.to_str().ok().and_then(|o| o.strip_prefix("http://"));
            origin.is_some_and(|host| self.is_host(host))
        };
        if !headers.get_all(header::ORIGIN).iter().all(own) {
            return Err(Refusal::forbidden("a page of another site asks"));
        }
        let json = |value: &HeaderValue| {
            let value = value.to_str().unwrap_or_default();
            let kind = value.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        };
        if *method == Method::POST && !headers.get(header::CONTENT_TYPE).is_some_and(json) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Refusal::new(status, "a request has to be JSON"));
        }
        Ok(())
    }
}
