//! Finds personal data and secrets in text and JSON.
