//! A caller that goes on whatever it is answered, and counts what that was.

use std::collections::BTreeMap;

use throughline_domain::TurnId;

use crate::fault::BenchError;
use crate::http::Connection;
use crate::load::Caller;
use crate::stage::Person;
use crate::words::{answered, said};

/// What it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Append,
    Read,
}

/// One connection, opened anew when it breaks.
pub(super) struct Held {
    address: String,
    person: Person,
    keys: String,
    what: What,
    next: usize,
    connection: Option<Connection>,
    acknowledged: Vec<u128>,
    /// Calls that may have stored something and were not told so.
    pub(super) open: usize,
    /// Answers that were no success, by code.
    pub(super) errors: BTreeMap<String, usize>,
}

impl Held {
    pub(super) fn new(address: &str, person: &Person, keys: String, what: What) -> Self {
        Self {
            address: address.to_owned(),
            person: person.clone(),
            keys,
            what,
            next: 0,
            connection: None,
            acknowledged: Vec::new(),
            open: 0,
            errors: BTreeMap::new(),
        }
    }

    pub(super) fn acknowledged(&self) -> impl Iterator<Item = u128> + '_ {
        self.acknowledged.iter().copied()
    }

    fn request(&self) -> String {
        let Person {
            tenant,
            user,
            token,
        } = &self.person;
        match self.what {
            What::Read => format!(
                "GET /v1/tenants/{tenant}/users/{user}/turns?limit=20 HTTP/1.1\r\nhost: bench\r\n\
                 authorization: Bearer {token}\r\n\r\n"
            ),
            What::Append => {
                let key = format!("{}{}", self.keys, self.next);
                append(&self.person, &key, "slack-user", &said())
            }
        }
    }

    fn count(&mut self, code: &str) {
        *self.errors.entry(code.to_owned()).or_default() += 1;
    }
}

/// A whole request that appends.
pub(super) fn append(person: &Person, key: &str, kind: &str, said: &str) -> String {
    let Person {
        tenant,
        user,
        token,
    } = person;
    let body = format!(
        "{{\"client_message_id\":\"{key}\",\"user_id\":\"{user}\",\"channel_kind\":\"{kind}\",\
         \"channel_scope\":\"C12\",\"turn\":{{\"user_message\":\"{said}\",\"assistant_answer\":\"{}\"}}}}",
        answered()
    );
    format!(
        "POST /v1/tenants/{tenant}/turns HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// What stands behind a name in an answer's JSON.
fn field<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}

impl Caller for Held {
    async fn call(&mut self) -> Result<(), BenchError> {
        let request = self.request();
        self.next += 1;
        let mut connection = if let Some(connection) = self.connection.take() {
            connection
        } else {
            let Ok(connection) = Connection::open(&self.address).await else {
                self.count("not connected");
                return Ok(());
            };
            connection
        };
        let Ok(answer) = connection.exchange(request.as_bytes()).await else {
            self.open += usize::from(self.what == What::Append);
            self.count("connection lost");
            return Ok(());
        };
        let id = field(answer.body, "message_id").and_then(|id| id.parse::<TurnId>().ok());
        match (answer.status, id) {
            (201, Some(id)) => self.acknowledged.push(id.as_u128()),
            (200, _) => {}
            (status, _) => {
                let code = format!(
                    "{status} {}",
                    field(answer.body, "code").unwrap_or_default()
                );
                let unknown = field(answer.body, "outcome") == Some("unknown");
                self.open += usize::from(unknown);
                self.count(&code);
            }
        }
        self.connection = Some(connection);
        Ok(())
    }
}
