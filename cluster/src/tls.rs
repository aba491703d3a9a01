//! How what nodes and their users say is encrypted, where cluster.toml wants it.
//!
//! With `tls = "automatic"` hiqlite makes certificates that nobody verifies, and proves by a handshake that
//! both sides know the secret before it sends anything. The control port is HTTP, which has no such
//! handshake and sends the secret: there the secret *is* the authority. The key of a certificate authority
//! is derived from it, each node signs a certificate for its host with that, and who asks a node believes
//! this authority alone.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum_server::tls_rustls::RustlsConfig;
use hiqlite::tls::{ServerTlsConfig, ServerTlsConfigCerts};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, PKCS_ED25519,
};
use reqwest::ClientBuilder;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};

use crate::config::{Config, Node, Tls};

/// What the secret is hashed with for the authority's key: other uses of it give other hashes.
const PURPOSE: &str = "authority of the control port of hpsqlite cluster: ";
/// An Ed25519 key in PKCS #8, up to the 32 bytes of the key itself (RFC 8410, 7)
const PKCS8_ED25519: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// For hiqlite's two ports
pub fn of_raft(config: &Config) -> Option<ServerTlsConfig> {
    config.tls.as_ref().map(|tls| match tls {
        Tls::Word(_) => ServerTlsConfig::TlsAutoCertificates,
        Tls::Files { certificate, key } => ServerTlsConfig::Specific(ServerTlsConfigCerts::new(
            key.display().to_string(),
            certificate.display().to_string(),
        )),
    })
}

/// The control port's scheme
pub fn scheme(config: &Config) -> &'static str {
    if config.tls.is_some() {
        "https"
    } else {
        "http"
    }
}

/// For the control port of a node; none if it is not encrypted.
pub fn of_node(config: &Config, node: &Node) -> Result<Option<RustlsConfig>> {
    let (chain, key) = match &config.tls {
        None => return Ok(None),
        Some(Tls::Word(_)) => signed(config, node)
            .with_context(|| format!("no certificate can be made for node {}", node.id))?,
        Some(Tls::Files { certificate, key }) => {
            let chain = CertificateDer::pem_file_iter(certificate)
                .and_then(Iterator::collect)
                .with_context(|| format!("{} has no certificate", certificate.display()))?;
            let key = PrivateKeyDer::from_pem_file(key)
                .with_context(|| format!("{} has no key", key.display()))?;
            (chain, key)
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("certificate and key do not fit")?;
    server.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(RustlsConfig::from_config(Arc::new(server))))
}

/// For who asks nodes
pub fn of_client(config: &Config, client: ClientBuilder) -> Result<ClientBuilder> {
    if !matches!(config.tls, Some(Tls::Word(_))) {
        return Ok(client);
    }
    let (_, certificate) = authority(config)?;
    let certificate = reqwest::Certificate::from_der(certificate.der())?;
    Ok(client.tls_certs_only([certificate]))
}

/// The file in the cluster's folder by which other programs know the control port, such as curl
/// with `--cacert`
pub const AUTHORITY: &str = "authority.pem";

/// Writes it where certificates are automatic.
pub fn publish(config: &Config, folder: &Path) -> Result<()> {
    if matches!(config.tls, Some(Tls::Word(_))) {
        let path = folder.join(AUTHORITY);
        let (_, certificate) = authority(config)?;
        std::fs::write(&path, certificate.pem())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Who knows the secret, as an authority
fn authority(config: &Config) -> Result<(Issuer<'static, KeyPair>, Certificate)> {
    let mut pkcs8 = PKCS8_ED25519.to_vec();
    pkcs8.extend(Sha256::digest(format!("{PURPOSE}{}", config.secret)));
    let key =
        KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(pkcs8), &PKCS_ED25519)?;
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters
        .distinguished_name
        .push(DnType::CommonName, "hpsqlite cluster");
    let certificate = parameters.self_signed(&key)?;
    Ok((Issuer::new(parameters, key), certificate))
}

/// A certificate for the node's host, and its key
fn signed(
    config: &Config,
    node: &Node,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let (authority, _) = authority(config)?;
    let key = KeyPair::generate()?;
    let mut parameters = CertificateParams::new(vec![node.host.clone()])?;
    parameters
        .distinguished_name
        .push(DnType::CommonName, format!("node {}", node.id));
    let certificate = parameters.signed_by(&key, &authority)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok((vec![certificate.der().clone()], key.into()))
}
