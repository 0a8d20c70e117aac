//! The callers: appending over HTTP, appending through the library, reading over HTTP.

use std::sync::Arc;

use throughline_conversation_memory::{
    ChannelKind, ChannelScope, ClientMessageId, ConversationMemory as _, NewTurn, Redaction,
    TurnDraft,
};
use throughline_domain::{TenantId, TurnId, UserId};
use throughline_provider_postgres::PostgresStore;

use crate::fault::BenchError;
use crate::http::Connection;
use crate::load::Caller;
use crate::stage::Person;
use crate::words::{answered, said};

/// A caller that remembers what it was told is stored.
pub(super) trait Appending: Caller {
    /// The ids of the turns.
    fn acknowledged(self) -> Vec<u128>;
}

/// One connection that appends for one person.
pub(super) struct HttpAppend {
    connection: Connection,
    head: String,
    keys: String,
    rest: String,
    next: usize,
    acknowledged: Vec<u128>,
    /// A refusal for too many requests is an answer too.
    tolerant: bool,
    /// How often that was the answer.
    pub(super) refused: usize,
}

impl HttpAppend {
    pub(super) async fn new(
        address: &str,
        person: &Person,
        keys: String,
    ) -> Result<Self, BenchError> {
        let Person {
            tenant,
            user,
            token,
        } = person;
        let (said, answered) = (said(), answered());
        Ok(Self {
            connection: Connection::open(address).await?,
            head: format!(
                "POST /v1/tenants/{tenant}/turns HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n\
                 content-type: application/json\r\ncontent-length: "
            ),
            rest: format!(
                "\",\"user_id\":\"{user}\",\"channel_kind\":\"slack-user\",\"channel_scope\":\"C12\",\
                 \"turn\":{{\"user_message\":\"{said}\",\"assistant_answer\":\"{answered}\"}}}}"
            ),
            keys,
            next: 0,
            acknowledged: Vec::new(),
            tolerant: false,
            refused: 0,
        })
    }

    /// Goes on after a refusal for too many requests.
    pub(super) fn tolerant(mut self) -> Self {
        self.tolerant = true;
        self
    }
}

impl Caller for HttpAppend {
    async fn call(&mut self) -> Result<(), BenchError> {
        let body = format!(
            "{{\"client_message_id\":\"{}{}{}",
            self.keys, self.next, self.rest
        );
        let request = format!("{}{}\r\n\r\n{body}", self.head, body.len());
        self.next += 1;
        let answer = self.connection.exchange(request.as_bytes()).await?;
        if answer.status == 429 && self.tolerant {
            self.refused += 1;
            return Ok(());
        }
        let id = answer
            .body
            .split_once("\"message_id\":\"")
            .and_then(|(_, rest)| rest.get(..26)?.parse::<TurnId>().ok());
        match (answer.status, id) {
            (201, Some(id)) => {
                self.acknowledged.push(id.as_u128());
                Ok(())
            }
            (status, _) => Err(BenchError::Answer(format!(
                "append: {status} {}",
                answer.body
            ))),
        }
    }
}

impl Appending for HttpAppend {
    fn acknowledged(self) -> Vec<u128> {
        self.acknowledged
    }
}

/// A caller in this process.
pub(super) struct LibraryAppend {
    store: Arc<PostgresStore>,
    tenant: TenantId,
    user: UserId,
    keys: String,
    next: usize,
    acknowledged: Vec<u128>,
}

impl LibraryAppend {
    pub(super) fn new(store: Arc<PostgresStore>, person: &Person, keys: String) -> Self {
        Self {
            store,
            tenant: person.tenant.clone(),
            user: person.user,
            keys,
            next: 0,
            acknowledged: Vec::new(),
        }
    }

    fn turn(&self) -> Result<NewTurn, BenchError> {
        let key = ClientMessageId::parse(&format!("{}{}", self.keys, self.next));
        let kind = ChannelKind::parse("slack-user").map_err(BenchError::stage)?;
        let draft = TurnDraft {
            key: key.map_err(BenchError::stage)?,
            user: self.user,
            scope: ChannelScope::new(kind, "C12").map_err(BenchError::stage)?,
            canvas: None,
            said_at: None,
            user_message: said(),
            assistant_answer: answered(),
            tool_calls: None,
            metadata: None,
        };
        let turn = draft.validate().map_err(BenchError::stage)?;
        Ok(turn.with_redaction(Redaction::clean(1)))
    }
}

impl Caller for LibraryAppend {
    async fn call(&mut self) -> Result<(), BenchError> {
        let turn = self.turn()?;
        self.next += 1;
        let stored = self.store.append(&self.tenant, turn).await;
        let stored = stored.map_err(|error| BenchError::Answer(format!("append: {error:?}")))?;
        self.acknowledged.push(stored.turn_id.as_u128());
        Ok(())
    }
}

impl Appending for LibraryAppend {
    fn acknowledged(self) -> Vec<u128> {
        self.acknowledged
    }
}

/// One connection that reads the latest turns of people it draws.
pub(super) struct HttpRecent {
    connection: Connection,
    requests: Arc<Vec<String>>,
    /// Nine of ten reads are for one of the first tenth.
    skewed: bool,
    random: u64,
}

impl HttpRecent {
    pub(super) async fn new(
        address: &str,
        requests: Arc<Vec<String>>,
        skewed: bool,
        number: usize,
    ) -> Result<Self, BenchError> {
        Ok(Self {
            connection: Connection::open(address).await?,
            requests,
            skewed,
            random: 0x9e37_79b9_7f4a_7c15 ^ u64::try_from(number + 1).unwrap_or(1),
        })
    }

    /// The request for a user's latest 20 turns.
    pub(super) fn request(tenant: &TenantId, user: UserId, token: &str) -> String {
        format!(
            "GET /v1/tenants/{tenant}/users/{user}/turns?limit=20 HTTP/1.1\r\nhost: bench\r\n\
             authorization: Bearer {token}\r\n\r\n"
        )
    }

    /// The next number below a bound; the same for each run.
    fn draw(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let below = u64::try_from(below.max(1)).unwrap_or(1);
        usize::try_from((self.random >> 11) % below).unwrap_or(0)
    }
}

impl Caller for HttpRecent {
    async fn call(&mut self) -> Result<(), BenchError> {
        let all = self.requests.len();
        let hot = self.skewed && self.draw(10) < 9;
        let number = self.draw(if hot { all / 10 } else { all });
        let requests = self.requests.clone();
        let answer = self
            .connection
            .exchange(requests[number].as_bytes())
            .await?;
        if answer.status == 200 && answer.body.starts_with("{\"turns\":[") {
            return Ok(());
        }
        Err(BenchError::Answer(format!(
            "recent: {} {}",
            answer.status, answer.body
        )))
    }
}
