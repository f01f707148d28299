//! The encryption of a connection, by the words of libpq: `require` takes any certificate, `verify-full` a trusted one.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::Verifier;

use super::error::Result;
use super::server::SslMode;
use super::{Server, TeamError};

/// The encryption of a connection to this server.
///
/// # Errors
/// When the certificates that are trusted cannot be read.
pub(super) fn encryption(server: &Server) -> Result<ClientConnection> {
    let provider = Arc::new(ring::default_provider());
    let error = |it: rustls::Error| TeamError::Tls(it.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(error)?;
    // With certificates of its own, `require` means more than any certificate to libpq, too.
    let roots = match (&server.root_certificates, server.ssl) {
        (Some(path), _) => Some(path.clone()),
        (None, SslMode::VerifyFull) => own_roots().filter(|path| path.exists()),
        (None, _) => None,
    };
    let config = if let Some(path) = roots {
        builder.with_root_certificates(read_roots(path)?)
    } else {
        let verifier: Arc<dyn ServerCertVerifier> = match server.ssl {
            SslMode::VerifyFull => Arc::new(Verifier::new(provider).map_err(error)?),
            _ => Arc::new(AnyCertificate(provider)),
        };
        builder.dangerous().with_custom_certificate_verifier(verifier)
    };
    let name = ServerName::try_from(server.host.clone())
        .map_err(|_| TeamError::Tls(format!("{} is no name of a host", server.host)))?;
    ClientConnection::new(Arc::new(config.with_no_client_auth()), name).map_err(error)
}

/// Where libpq looks for the certificates that its user trusts.
fn own_roots() -> Option<PathBuf> {
    let folders = directories::BaseDirs::new()?;
    Some(match cfg!(windows) {
        true => folders.config_dir().join("postgresql").join("root.crt"),
        false => folders.home_dir().join(".postgresql").join("root.crt"),
    })
}

fn read_roots(path: PathBuf) -> Result<RootCertStore> {
    let certificates =
        CertificateDer::pem_file_iter(&path).and_then(|it| it.collect::<Result<Vec<_>, _>>());
    let invalid = |what: String| std::io::Error::new(std::io::ErrorKind::InvalidData, what);
    let mut roots = RootCertStore::empty();
    let added = certificates.map_err(|it| it.to_string()).and_then(|all| {
        all.into_iter().try_for_each(|it| roots.add(it)).map_err(|it| it.to_string())
    });
    match added {
        Ok(()) if !roots.is_empty() => Ok(roots),
        Ok(()) => Err(TeamError::Certificate {
            path,
            source: invalid("it has no certificate".to_owned()),
        }),
        Err(what) => Err(TeamError::Certificate { path, source: invalid(what) }),
    }
}

/// Takes any certificate: the connection is encrypted, and nothing is known of the other side.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

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
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
