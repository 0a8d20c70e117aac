//! TLS by rustls, with what each `sslmode` promises.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::{SslMode, TlsOptions};

/// Why no TLS connection can be offered.
#[derive(Debug, thiserror::Error)]
pub enum TlsFault {
    /// The file of root certificates.
    #[error("{path} cannot be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file without a single certificate.
    #[error("{path} holds no usable certificate; it must be a PEM file of certificates to trust")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// `verify-full` without anything to verify against.
    #[error("the system has no root certificates; name a file of them")]
    NoRoots,
    /// The TLS library refused.
    #[error("tls cannot be set up")]
    Library(#[from] rustls::Error),
}

/// The connector for a mode; not used with `disable`.
pub(crate) fn connector(
    mode: SslMode,
    options: &TlsOptions,
) -> Result<MakeRustlsConnect, TlsFault> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let config = match (mode, options.root_certificates.as_deref()) {
        (_, Some(path)) => config.with_root_certificates(roots_of(path)?),
        (SslMode::VerifyFull, None) => config.with_root_certificates(system_roots()?),
        (SslMode::Disable | SslMode::Prefer | SslMode::Require, None) => config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

fn roots_of(path: &Path) -> Result<RootCertStore, TlsFault> {
    let unreadable = |source| TlsFault::Unreadable {
        path: path.to_path_buf(),
        source,
    };
    let pem = std::fs::read(path).map_err(unreadable)?;
    let unusable = || TlsFault::NoCertificate {
        path: path.to_path_buf(),
    };
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|_| unusable())?;
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(certificates);
    if usable == 0 {
        return Err(unusable());
    }
    Ok(roots)
}

fn system_roots() -> Result<RootCertStore, TlsFault> {
    let mut roots = RootCertStore::empty();
    let (usable, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if usable == 0 {
        Err(TlsFault::NoRoots)
    } else {
        Ok(roots)
    }
}

/// `prefer` and `require` promise an encrypted line, not who is at its other end; so does libpq. The
/// signatures are still checked: the peer holds the key of the certificate it shows.
struct AnyCertificate(Arc<CryptoProvider>);

impl fmt::Debug for AnyCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyCertificate")
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
