//! Over TLS: a service whose authority the client trusts, and one whose it does not.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use throughline_client::{Client, ClientError, Keys};
use throughline_conversation_memory::contract::turn;
use throughline_conversation_memory::{AppendError, ConversationMemory};
use throughline_tenancy::TenantConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use crate::stub::quick;
use crate::subject::{Service, service};

/// An authority, and a server's configuration with its certificate for `localhost`.
fn authority() -> (RootCertStore, ServerConfig) {
    let authority_key = KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&authority_key).expect("signed");
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).expect("a root");
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().expect("a key");
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let leaf = leaf.signed_by(&key, &issuer).expect("signed");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key);
    (roots, server.expect("a certificate with its key"))
}

fn trusting(roots: RootCertStore) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Takes TLS off in front of the service; its address.
async fn in_front_of(service: &Service, server: ServerConfig) -> String {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let acceptor = TlsAcceptor::from(Arc::new(server));
    let behind: SocketAddr = service.url["http://".len()..].parse().expect("an address");
    TaskTracker::new().spawn(async move {
        let lines = TaskTracker::new();
        while let Ok((line, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            lines.spawn(async move {
                let mut plain = TcpStream::connect(behind).await?;
                let mut secure = acceptor.accept(line).await?;
                tokio::io::copy_bidirectional(&mut secure, &mut plain).await
            });
        }
    });
    format!("https://localhost:{port}")
}

#[tokio::test]
async fn a_service_is_spoken_to_over_tls_when_its_authority_is_trusted() {
    let service = service().await;
    let acme = service.tenant("acme", TenantConfig::default()).await;
    let mina = service.user(&acme).await;
    let (roots, server) = authority();
    let url = in_front_of(&service, server).await;
    let client = |roots| {
        Client::builder(&url, Keys::one(&service.operator).unwrap())
            .tls(trusting(roots))
            .settings(quick())
            .build()
            .unwrap()
    };
    let stored = client(roots).append(&acme, turn(mina, "k").build()).await;
    assert!(stored.is_ok(), "{stored:?}");

    let (strangers, _) = authority();
    let refused = client(strangers)
        .append(&acme, turn(mina, "k2").build())
        .await;
    let Err(error @ AppendError::Transport { .. }) = refused else {
        panic!("{refused:?}");
    };
    let cause = ClientError::behind(&error);
    assert!(
        matches!(cause, Some(ClientError::NotConnected(_))),
        "{cause:?}"
    );
}
