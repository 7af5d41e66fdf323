//! HTTP clients: TLS by rustls over ring, proxies from the handed-in environment, loopback never proxied.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use koda_protocol::port::{ModelError, ModelErrorKind};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Certificate, NoProxy, Proxy, Url};

use crate::settings::Env;

/// How a provider is reached, by its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    /// The address of its proxy.
    pub proxy: Option<String>,
    /// A file of certificates (PEM) that are trusted besides.
    pub ca_file: Option<PathBuf>,
}

/// What a connection to an address needs. Each has a client of its own, built when first used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Route {
    loopback: bool,
    tls: bool,
    way: Way,
}

/// Builds and keeps clients.
pub(crate) struct Http {
    env: Env,
    connect: Duration,
    clients: Mutex<HashMap<Route, reqwest::Client>>,
}

impl Http {
    pub(crate) fn new(env: Env, connect: Duration) -> Self {
        Self { env, connect, clients: Mutex::default() }
    }

    /// Returns the client for an address. Errors are of the kind `Network`.
    pub(crate) fn client(&self, address: &str) -> Result<reqwest::Client, ModelError> {
        self.client_by(address, &Way::default())
    }

    /// Returns the client for an address that is reached in a way of its own. Errors are of the kinds `Config`
    /// (what the settings name is not there) and `Network`.
    pub(crate) fn client_by(&self, address: &str, way: &Way) -> Result<reqwest::Client, ModelError> {
        let url = Url::parse(address).ok();
        let route = Route {
            loopback: url.as_ref().is_some_and(is_loopback),
            tls: url.as_ref().is_none_or(|url| url.scheme() != "http"),
            way: way.clone(),
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&route) {
            return Ok(client.clone());
        }
        let own = certificates(way)?;
        let client = self.build(&route, own).map_err(|error| ModelError {
            kind: ModelErrorKind::Network,
            message: format!("the HTTP client could not start: {}", crate::failure::chain(&error)),
            hint: Some("check the system's certificates and the proxy variables".to_owned()),
        })?;
        clients.insert(route, client.clone());
        Ok(client)
    }

    fn build(&self, route: &Route, own: Vec<Certificate>) -> reqwest::Result<reqwest::Client> {
        // An error means that a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(self.connect)
            .tcp_nodelay(true)
            .redirect(Policy::custom(follow))
            .pool_max_idle_per_host(4)
            .http2_keep_alive_interval(Duration::from_secs(20))
            .http2_keep_alive_timeout(Duration::from_secs(10));
        if !route.tls && route.way.proxy.is_none() {
            // Reading the system's certificates takes milliseconds, and fails where there are none.
            builder = builder.tls_certs_only([]);
        } else if !own.is_empty() {
            builder = builder.tls_certs_merge(own);
        }
        if let Some(proxy) = &route.way.proxy {
            return builder.proxy(Proxy::all(proxy)?).build();
        }
        if route.loopback {
            return builder.no_proxy().build();
        }
        for proxy in self.proxies()? {
            builder = builder.proxy(proxy);
        }
        builder.build()
    }

    /// Reads the usual variables. With none set, reqwest asks the system's own proxy settings.
    fn proxies(&self) -> reqwest::Result<Vec<Proxy>> {
        let var = |name: &str| {
            (self.env)(name)
                .or_else(|| (self.env)(&name.to_lowercase()))
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let except = var("NO_PROXY").and_then(|list| NoProxy::from_string(&list));
        let mut proxies = Vec::new();
        if let Some(address) = var("HTTPS_PROXY") {
            proxies.push(Proxy::https(address)?);
        }
        if let Some(address) = var("HTTP_PROXY") {
            proxies.push(Proxy::http(address)?);
        }
        if let Some(address) = var("ALL_PROXY") {
            proxies.push(Proxy::all(address)?);
        }
        Ok(proxies.into_iter().map(|proxy| proxy.no_proxy(except.clone())).collect())
    }
}

/// Reads the certificates that the settings name.
fn certificates(way: &Way) -> Result<Vec<Certificate>, ModelError> {
    let Some(path) = &way.ca_file else { return Ok(Vec::new()) };
    let wrong = |reason: String| ModelError {
        kind: ModelErrorKind::Config,
        message: format!("ca_file {}: {reason}", path.display()),
        hint: Some("name a file of certificates in PEM form".to_owned()),
    };
    let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let found = Certificate::from_pem_bundle(&text).map_err(|error| wrong(crate::failure::chain(&error)))?;
    if found.is_empty() { Err(wrong("it has no certificate".to_owned())) } else { Ok(found) }
}

/// Follows a redirect within the host only: the headers that hold a key must not go to another.
fn follow(attempt: Attempt<'_>) -> Action {
    let origin = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port());
    let first = attempt.previous().first().map(origin);
    if attempt.previous().len() < 5 && first == Some(origin(attempt.url())) {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_in_all_its_forms() {
        for (address, wanted) in [
            ("http://127.0.0.1:80/", true),
            ("http://127.8.8.8/", true),
            ("http://localhost:11434/v1/", true),
            ("http://[::1]:8080/", true),
            ("https://example.com/", false),
            ("http://10.0.0.1/", false),
            ("http://localhost.example.com/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(address).unwrap()), wanted, "{address}");
        }
    }
}
