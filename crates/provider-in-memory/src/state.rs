//! What the store knows. Everything of a tenant hangs under that tenant, so that no look-up can
//! cross from one to another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use throughline_conversation_memory::{
    ChannelScope, ClientMessageId, ContentForm, NewTurn, Position, Restamp, Turn, Usage,
};
use throughline_domain::{TenantId, Timestamp, TurnId, UserId};
use throughline_tenancy::{KeyRecord, Principal, Tenant};

use crate::audit::Trail;
use crate::leases::Claims;
use crate::people::People;

/// A token's hash. Finding it by value tells a guesser nothing: it cannot be steered towards a stored
/// one without inverting the hash.
pub(crate) type TokenHash = [u8; 32];

#[derive(Default)]
pub(crate) struct State {
    /// Sorted by bytes, which is the order of the list.
    pub(crate) tenants: BTreeMap<TenantId, TenantState>,
    pub(crate) operator_keys: Keys,
    pub(crate) seeded: HashMap<TokenHash, Principal>,
    /// By job.
    pub(crate) claims: HashMap<&'static str, Claims>,
}

pub(crate) struct TenantState {
    pub(crate) tenant: Tenant,
    pub(crate) keys: Keys,
    pub(crate) people: People,
    pub(crate) log: Log,
    pub(crate) trail: Trail,
}

/// Minted keys, oldest first, and the way from a token to one of them.
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) records: Vec<KeyRecord>,
    /// Places in `records`, which never shrinks: a key is revoked, not removed.
    pub(crate) by_hash: HashMap<TokenHash, usize>,
}

/// Turns in the order that every reader uses.
pub(crate) type Ordered = BTreeMap<Position, Arc<Row>>;

/// A tenant's turns. Readers go through an index of their own, so that no read costs more because
/// there is more it does not ask for (failures.md 32).
#[derive(Default)]
pub(crate) struct Log {
    /// The place given last; 0 before the first turn.
    pub(crate) last_seq: u64,
    pub(crate) by_key: HashMap<ClientMessageId, Arc<Row>>,
    pub(crate) by_user: HashMap<UserId, UserLog>,
    /// Only the turns after each scope's last clearing.
    pub(crate) by_scope: HashMap<ChannelScope, Ordered>,
    /// All turns by their end, for the sweep.
    pub(crate) by_end: BTreeMap<(Timestamp, u64), Arc<Row>>,
    /// Turns as they were sent, by who looked at them last: nobody, or which version of the detector.
    pub(crate) by_scan: BTreeMap<(Option<u32>, TurnId), Arc<Row>>,
    /// How far the ends were brought in line with which rule.
    pub(crate) restamp: Restamping,
    /// Digests of the keys of erased and swept turns, and until when they are refused (T-57).
    pub(crate) tombstones: HashMap<[u8; 32], Timestamp>,
}

/// A walk over the ends, latest first.
#[derive(Default)]
pub(crate) struct Restamping {
    pub(crate) rule: Option<Restamp>,
    /// The end looked at last; `None` before the first.
    pub(crate) at: Option<(Timestamp, u64)>,
    pub(crate) finished: bool,
}

/// A user's turns with their counters, moved in the same step.
#[derive(Default)]
pub(crate) struct UserLog {
    pub(crate) turns: Ordered,
    /// Those of `turns` that are not scanned yet, so that counting them costs nothing else.
    pub(crate) pending: BTreeSet<Position>,
    pub(crate) usage: Usage,
}

/// One stored turn; a merge puts another row with another user in its place.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) id: TurnId,
    pub(crate) seq: u64,
    pub(crate) user: UserId,
    /// The account it came through; an undone merge gives it back by this.
    pub(crate) origin: UserId,
    pub(crate) created_at: Timestamp,
    /// `created_at` plus the retention at the time it was stored.
    pub(crate) expires_at: Timestamp,
    pub(crate) said: Arc<NewTurn>,
    /// How often its scan has failed.
    pub(crate) failures: u32,
}

impl TenantState {
    pub(crate) fn new(tenant: Tenant) -> Self {
        Self {
            tenant,
            keys: Keys::default(),
            people: People::default(),
            log: Log::default(),
            trail: Trail::default(),
        }
    }
}

impl TenantState {
    /// The turns of the person behind this id.
    pub(crate) fn log_of(&self, user: UserId) -> Option<&UserLog> {
        self.log.by_user.get(&self.people.root(user)?)
    }
}

impl Row {
    /// Its place among the ends.
    pub(crate) fn end(&self) -> (Timestamp, u64) {
        (self.expires_at, self.seq)
    }

    /// Its place among those that are to be scanned; `None` for one that was stored masked.
    pub(crate) fn scan_place(&self) -> Option<(Option<u32>, TurnId)> {
        let looked = self.said.redaction().detector_version();
        (self.said.form() == ContentForm::Raw).then_some((looked, self.id))
    }

    pub(crate) fn position(&self) -> Position {
        Position {
            created_at: self.created_at,
            seq: self.seq,
        }
    }

    /// Whether a reader may see it: it has ended neither by the retention it was stored under nor by
    /// the present one.
    pub(crate) fn is_readable(&self, now: Timestamp, ttl: Duration) -> bool {
        now < self.expires_at.min(self.created_at.plus(ttl))
    }

    /// A copy for a reader.
    pub(crate) fn to_turn(&self) -> Turn {
        let said = &self.said;
        Turn {
            id: self.id,
            seq: self.seq,
            user_id: self.user,
            scope: said.scope().clone(),
            canvas: said.canvas().cloned(),
            user_message: said.user_message().to_owned(),
            assistant_answer: said.assistant_answer().to_owned(),
            tool_calls: said.tool_calls().cloned(),
            metadata: said.metadata().clone(),
            created_at: self.created_at,
            redaction: said.redaction().clone(),
            form: said.form(),
        }
    }
}
