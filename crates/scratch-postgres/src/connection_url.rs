//! Taking a connection URL apart and putting it together for another database.

use std::fmt::Write as _;

use crate::Error;

/// `postgres://user:password@host:port/database?query`, kept as written.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ConnectionUrl {
    user: String,
    password: Option<String>,
    host: String,
    port: u16,
    database: String,
    query: Option<String>,
}

impl ConnectionUrl {
    pub(crate) fn local(port: u16, user: &str, password: &str) -> Self {
        Self {
            user: user.to_owned(),
            password: Some(password.to_owned()),
            host: "127.0.0.1".to_owned(),
            port,
            database: "postgres".to_owned(),
            query: None,
        }
    }

    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let rest = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"));
        let rest = rest.ok_or(Error::BadUrl)?;
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query.to_owned())),
            None => (rest, None),
        };
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (userinfo, hostport) = authority.rsplit_once('@').ok_or(Error::BadUrl)?;
        let (user, password) = match userinfo.split_once(':') {
            Some((user, password)) => (user, Some(decode(password)?)),
            None => (userinfo, None),
        };
        let (host, port) = match hostport.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| Error::BadUrl)?)
            }
            _ => (hostport, 5432),
        };
        if host.is_empty() || user.is_empty() {
            return Err(Error::BadUrl);
        }
        let database = if database.is_empty() { user } else { database };
        Ok(Self {
            user: decode(user)?,
            password,
            host: host.to_owned(),
            port,
            database: decode(database)?,
            query,
        })
    }

    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    pub(crate) fn password(&self) -> &str {
        self.password.as_deref().unwrap_or_default()
    }

    /// The host without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    pub(crate) fn with_database(&self, database: &str) -> Self {
        Self {
            database: database.to_owned(),
            ..self.clone()
        }
    }

    pub(crate) fn with_port(&self, port: u16) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port,
            query: None,
            ..self.clone()
        }
    }

    /// For drivers.
    pub(crate) fn text(&self) -> String {
        let password = self.password.as_deref().map(|p| format!(":{}", encode(p)));
        self.assemble(&password.unwrap_or_default())
    }

    /// For a command line, which every user of the machine can read.
    pub(crate) fn text_without_password(&self) -> String {
        self.assemble("")
    }

    fn assemble(&self, password: &str) -> String {
        let (user, database) = (encode(&self.user), encode(&self.database));
        let query = self
            .query
            .as_deref()
            .map(|q| format!("?{q}"))
            .unwrap_or_default();
        format!(
            "postgres://{user}{password}@{}:{}/{database}{query}",
            self.host, self.port
        )
    }
}

fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    out
}

fn decode(text: &str) -> Result<String, Error> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [
                bytes.next().ok_or(Error::BadUrl)?,
                bytes.next().ok_or(Error::BadUrl)?,
            ];
            let digits = str::from_utf8(&digits).map_err(|_| Error::BadUrl)?;
            out.push(u8::from_str_radix(digits, 16).map_err(|_| Error::BadUrl)?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).map_err(|_| Error::BadUrl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_database_keeps_everything_else() {
        let url = ConnectionUrl::parse("postgresql://u%40x:p%3Aq@[::1]:6000/a?sslmode=disable");
        let url = url.unwrap();
        assert_eq!(
            (url.user(), url.password(), url.host()),
            ("u@x", "p:q", "::1")
        );
        assert_eq!(
            url.with_database("b c").text(),
            "postgres://u%40x:p%3Aq@[::1]:6000/b%20c?sslmode=disable"
        );
    }

    #[test]
    fn what_is_left_out_has_the_usual_value() {
        let url = ConnectionUrl::parse("postgres://someone@db.example").unwrap();
        assert_eq!(
            (url.port(), url.database(), url.password()),
            (5432, "someone", "")
        );
    }

    #[test]
    fn a_url_without_user_or_host_is_refused() {
        for bad in [
            "mysql://u@h/d",
            "postgres://h/d",
            "postgres://u@/d",
            "postgres://u@h:x/d",
        ] {
            assert!(
                matches!(ConnectionUrl::parse(bad), Err(Error::BadUrl)),
                "{bad}"
            );
        }
    }

    #[test]
    fn the_command_line_form_holds_no_password() {
        let secret = ["hid", "den"].concat();
        let url = ConnectionUrl::local(1, "u", &secret);
        assert!(url.text().contains(&secret));
        assert!(!url.text_without_password().contains(&secret));
    }
}
