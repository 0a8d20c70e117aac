//! Many turns at once, written past the service: what a read has to find its way through.

use throughline_domain::UserId;

use super::{Stage, TENANTS};
use crate::fault::BenchError;
use crate::words::{answered, said};

/// The user that `pgbench` knows under this number.
pub(crate) fn filled_user(number: usize) -> UserId {
    let number = u128::try_from(number).unwrap_or(0);
    UserId::from_u128((2 << 48) | number)
}

impl Stage {
    /// What the names of the tenants begin with.
    pub(crate) fn tenant_prefix(&self) -> String {
        let name = self.people[0].tenant.as_str();
        name.strip_suffix('0').unwrap_or(name).to_owned()
    }

    /// Users from `first` on with that many turns each, spread over the tenants. A user's turns lie
    /// apart from each other, as they do when people speak in turn.
    pub(crate) async fn fill(
        &self,
        first: usize,
        users: usize,
        turns: usize,
    ) -> Result<(), BenchError> {
        let (prefix, said, answered) = (self.tenant_prefix(), said(), answered());
        let last = first + users - 1;
        let sql = format!(
            "begin;
insert into users
select '{prefix}' || n % {TENANTS}, ('00000000-0000-0000-0002-' || lpad(to_hex(n), 12, '0'))::uuid,
    'active', null, 1, {turns}, {turns}::bigint * 1602, 0, now(), now()
from generate_series({first}, {last}) as n;
insert into cross_channel_messages (
    tenant_id, id, seq, user_id, origin_user_id, client_message_id, request_digest, channel_kind,
    channel_scope, user_message, assistant_answer, user_message_bytes, assistant_bytes, aux_bytes,
    metadata, redaction_state, detector_version, content_form, created_at, ingested_at, expires_at
)
select '{prefix}' || n % {TENANTS}, ('00000000-0000-0000-0002-' || lpad(to_hex(t::bigint * 1000000 + n), 12, '0'))::uuid,
    s.base + t::bigint * {users} + n - {first} + 1, u.id, u.id, 'filled ' || n || ' ' || t,
    decode(md5(n || ' ' || t) || md5(t || ' ' || n), 'hex'), 'slack-user', 'C' || n % 500,
    '{said}', '{answered}', 400, 1200, 2, '{{}}', 'clean', 1, 'raw',
    now() - ({turns} - t) * interval '1 minute', now(), now() + interval '60 days'
from generate_series(0, {turns} - 1) as t
cross join generate_series({first}, {last}) as n
cross join lateral (select ('00000000-0000-0000-0002-' || lpad(to_hex(n), 12, '0'))::uuid as id) u
cross join (select coalesce(max(seq), 0) as base from tenant_streams) s;
update tenant_streams set seq = seq + {turns}::bigint * {users} where tenant_id like '{prefix}%';
commit;
vacuum analyze cross_channel_messages;
vacuum analyze users;
"
        );
        self.programs.psql(&sql).await?;
        self.settle().await
    }
}
