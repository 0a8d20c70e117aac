//! Connections to the service: reused, plain or TLS, with one TLS stack (rustls on aws-lc-rs).

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use crate::{InvalidSetup, Settings};

pub(crate) type Connections = Hyper<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A pool of connections; none is opened yet.
pub(crate) fn connections(tls: ClientConfig, settings: &Settings) -> Connections {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(settings.connect));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Hyper::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(settings.idle)
        .pool_max_idle_per_host(settings.idle_connections)
        .build(connector)
}

/// Where the service is: `http://` or `https://`, an authority and perhaps a path in front of ours.
pub(crate) fn base(url: &str) -> Result<(String, bool), InvalidSetup> {
    let base = url.trim_end_matches('/');
    let uri: Uri = base.parse().map_err(|_| InvalidSetup::Url)?;
    let secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(InvalidSetup::Url),
    };
    let has_credentials = uri.authority().is_none_or(|a| a.as_str().contains('@'));
    if has_credentials || uri.query().is_some() {
        return Err(InvalidSetup::Url);
    }
    Ok((base.to_owned(), secure))
}

/// The machine's trusted roots; for plain HTTP none are looked up, so that it works where there are none.
pub(crate) fn machine_tls(secure: bool) -> Result<ClientConfig, InvalidSetup> {
    let mut roots = RootCertStore::empty();
    if secure {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(InvalidSetup::NoRoots);
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(InvalidSetup::Tls)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_a_service_is_taken() {
        let at = |url: &str| base(url).ok();
        assert_eq!(at("http://a:1/"), Some(("http://a:1".to_owned(), false)));
        assert_eq!(at("https://a/x/"), Some(("https://a/x".to_owned(), true)));
        for bad in [
            "",
            "a",
            "a:1",
            "ftp://a",
            "http://",
            "/x",
            "http://u:p@a",
            "http://a/?b=1",
        ] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }
}
