//! What each `sslmode` promises, against a server with a certificate of its own authority.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use throughline_domain::{SystemClock, SystemIds};
use throughline_scratch_postgres::{Server, Settings};

use crate::{ConnectError, PostgresConfig, PostgresStore, TlsFault, TlsOptions, migrate};

/// A server that speaks TLS as `localhost`, and a file of its authority's certificate.
fn server() -> (Server, PathBuf) {
    let server = Server::start(Settings::default()).unwrap();
    let (authority, certificate, key) = certificates();
    let data = server.data_dir();
    let owner = data.metadata().unwrap();
    for (name, text) in [("server.crt", certificate), ("server.key", key)] {
        let path = data.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    let roots = server.socket_dir().join("roots.pem");
    fs::write(&roots, authority).unwrap();
    server
        .psql(
            "postgres",
            "alter system set ssl = on; select pg_reload_conf();",
        )
        .unwrap();
    let ready = "select setting from pg_settings where name = 'ssl';";
    while server.psql("postgres", ready).unwrap() != "on" {}
    (server, roots)
}

fn certificates() -> (String, String, String) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    (authority_certificate.pem(), leaf.pem(), key.serialize_pem())
}

fn config(server: &Server, host: &str, mode: &str, roots: Option<&PathBuf>) -> PostgresConfig {
    let url = server.url("postgres").replace("127.0.0.1", host);
    let parameter = if url.contains('?') { '&' } else { '?' };
    let mut config = PostgresConfig::new(format!("{url}{parameter}sslmode={mode}").into());
    config.tls = TlsOptions {
        root_certificates: roots.cloned(),
    };
    config
}

/// Whether the connection is encrypted; `None` when there is none.
async fn encrypted(config: PostgresConfig) -> Option<bool> {
    let registry = prometheus::Registry::new();
    let store = PostgresStore::connect(
        config,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        &registry,
    );
    let store = store.unwrap();
    let connection = store.sessions.pool.get().await.ok()?;
    let row = connection
        .query_one(
            "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
            &[],
        )
        .await
        .unwrap();
    Some(row.get(0))
}

#[tokio::test]
async fn each_sslmode_keeps_its_promise() {
    let (server, roots) = server();
    let other = server.socket_dir().join("other.pem");
    fs::write(&other, certificates().0).unwrap();
    for (host, mode, roots, expected) in [
        ("127.0.0.1", "disable", None, Some(false)),
        ("127.0.0.1", "prefer", None, Some(true)),
        ("127.0.0.1", "require", None, Some(true)),
        ("localhost", "require", Some(&roots), Some(true)),
        ("localhost", "verify-full", Some(&roots), Some(true)),
        // Another name than the certificate's, another authority, the system's authorities.
        ("127.0.0.1", "require", Some(&roots), None),
        ("127.0.0.1", "verify-full", Some(&roots), None),
        ("localhost", "verify-full", Some(&other), None),
    ] {
        let found = encrypted(config(&server, host, mode, roots)).await;
        assert_eq!(found, expected, "{mode} to {host}");
    }
    migrate(&config(&server, "localhost", "verify-full", Some(&roots)))
        .await
        .unwrap();
    let refused = migrate(&config(&server, "127.0.0.1", "verify-full", Some(&roots))).await;
    assert!(refused.is_err());
}

#[test]
fn a_file_without_certificates_is_named() {
    let directory = std::env::temp_dir();
    let config = |path: PathBuf| {
        let mut config = PostgresConfig::new("postgres://u@localhost/d?sslmode=verify-full".into());
        config.tls.root_certificates = Some(path);
        let registry = prometheus::Registry::new();
        PostgresStore::connect(
            config,
            Arc::new(SystemClock),
            Arc::new(SystemIds),
            &registry,
        )
        .err()
    };
    let missing = config(directory.join("no such file.pem"));
    assert!(matches!(
        missing,
        Some(ConnectError::Tls(TlsFault::Unreadable { .. }))
    ));
    let text = config(PathBuf::from(env!("CARGO_MANIFEST_PATH")));
    assert!(matches!(
        text,
        Some(ConnectError::Tls(TlsFault::NoCertificate { .. }))
    ));
}
