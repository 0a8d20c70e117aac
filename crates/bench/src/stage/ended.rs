//! A tenant with many turns of which some have ended, written past the service, and a sweep of it.

use std::time::{Duration, Instant};

use throughline_domain::{Actor, TenantId};
use throughline_tenancy::Tenancy as _;

use super::{Person, Stage, newcomer};
use crate::fault::BenchError;
use crate::http::Connection;
use crate::stage::filled_user;
use crate::words::{answered, said};

/// People of that tenant.
const USERS: usize = 1_000;
/// The numbers by which they are told from other filled people.
const FIRST: usize = 500_000;

/// What a sweep did, and in what time.
pub(crate) struct Swept {
    /// Turns that had ended.
    pub(crate) rows: usize,
    pub(crate) took: Duration,
}

/// The tenant, and who may sweep it.
pub(crate) struct Sweeping {
    tenant: TenantId,
    token: String,
    operator: String,
    written: usize,
}

impl Stage {
    /// A new tenant without turns, whose cap nobody reaches.
    pub(crate) async fn sweeping(&self) -> Result<Sweeping, BenchError> {
        let name = format!("bench-{}-ended", std::process::id());
        let tenant = TenantId::parse(&name).map_err(BenchError::stage)?;
        let token = newcomer(&self.store, &tenant).await?;
        let actor = Actor::parse("bench").map_err(BenchError::stage)?;
        let operator = self.store.mint_operator_key(&actor, "bench").await;
        let operator = operator.map_err(BenchError::stage)?;
        let users = format!(
            "insert into users
select '{tenant}', ('00000000-0000-0000-0002-' || lpad(to_hex(n), 12, '0'))::uuid,
    'active', null, 1, 0, 0, 0, now(), now()
from generate_series({FIRST}, {}) as n;",
            FIRST + USERS - 1
        );
        self.programs.psql(&users).await?;
        Ok(Sweeping {
            tenant,
            token,
            operator: operator.token.reveal().to_owned(),
            written: 0,
        })
    }

    /// Further turns; of `period` of them one stays and the others have ended. Counters are those of all.
    pub(crate) async fn fill_ended(
        &self,
        sweeping: &mut Sweeping,
        turns: usize,
        period: usize,
    ) -> Result<(), BenchError> {
        let (tenant, said, answered) = (&sweeping.tenant, said(), answered());
        let (first, last) = (sweeping.written, sweeping.written + turns - 1);
        sweeping.written += turns;
        let sql = format!(
            "begin;
insert into cross_channel_messages (
    tenant_id, id, seq, user_id, origin_user_id, client_message_id, request_digest, channel_kind,
    channel_scope, user_message, assistant_answer, user_message_bytes, assistant_bytes, aux_bytes,
    metadata, redaction_state, detector_version, content_form, created_at, ingested_at, expires_at
)
select '{tenant}', ('00000000-0000-0000-0003-' || lpad(to_hex(n), 12, '0'))::uuid,
    s.seq + n - {first} + 1, u.id, u.id, 'ended ' || n, decode(md5(n || 'a') || md5(n || 'b'), 'hex'),
    'slack-user', 'C' || n % 100, '{said}', '{answered}', 400, 1200, 2, '{{}}', 'clean', 1, 'raw',
    now() - interval '1 day' + (n - {first}) * interval '1 microsecond', now(),
    case when n % {period} = 0 then now() + interval '60 days'
        else now() - interval '1 hour' + (n - {first}) * interval '1 millisecond' end
from generate_series({first}::bigint, {last}) as n
cross join lateral (
    select ('00000000-0000-0000-0002-' || lpad(to_hex({FIRST} + n / {period} % {USERS}), 12, '0'))::uuid as id
) u
cross join (select seq from tenant_streams where tenant_id = '{tenant}') s;
update tenant_streams set seq = seq + {turns} where tenant_id = '{tenant}';
update users u set turn_count = m.turns, byte_count = m.bytes
from (
    select user_id, count(*) as turns, sum(user_message_bytes::bigint + assistant_bytes + aux_bytes) as bytes
    from cross_channel_messages where tenant_id = '{tenant}' group by user_id
) m
where u.tenant_id = '{tenant}' and u.user_id = m.user_id;
commit;
vacuum analyze cross_channel_messages;
vacuum analyze users;"
        );
        self.programs.psql(&sql).await?;
        self.settle().await
    }

    /// People of the tenant.
    pub(crate) fn swept_people(sweeping: &Sweeping, count: usize) -> Vec<Person> {
        let person = |number: usize| Person {
            tenant: sweeping.tenant.clone(),
            user: filled_user(FIRST + number % USERS),
            token: sweeping.token.clone(),
        };
        (0..count).map(person).collect()
    }

    /// Turns that are there, and those of them that have ended.
    pub(crate) async fn turns_of(&self, sweeping: &Sweeping) -> Result<(usize, usize), BenchError> {
        let sql = format!(
            "select count(*) || ' ' || count(*) filter (where expires_at <= now())
             from cross_channel_messages
             where tenant_id = '{}' and client_message_id like 'ended %';",
            sweeping.tenant
        );
        let found = self.programs.psql(&sql).await?;
        let parsed = found.split_once(' ').and_then(|(all, ended)| {
            let (all, ended) = (all.parse().ok()?, ended.parse().ok()?);
            Some((all, ended))
        });
        parsed.ok_or_else(|| BenchError::Stage(format!("turns were counted as {found:?}")))
    }
}

impl Sweeping {
    /// One sweep by the service, over HTTP as an operator asks for it.
    pub(crate) async fn sweep(&self, address: &str) -> Result<Swept, BenchError> {
        let request = format!(
            "POST /admin/jobs/gc/run?tenant={} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\n\
             content-length: 0\r\n\r\n",
            self.tenant, self.operator
        );
        let begun = Instant::now();
        let mut connection = Connection::open(address).await?;
        let answer = connection.exchange(request.as_bytes()).await?;
        let took = begun.elapsed();
        let failed = || BenchError::Answer(format!("sweep: {} {}", answer.status, answer.body));
        let told: serde_json::Value = serde_json::from_str(answer.body).map_err(|_| failed())?;
        if answer.status != 200 || told["outcome"] != "done" {
            return Err(failed());
        }
        let ended = told["done"].as_array().into_iter().flatten();
        let ended = ended.filter(|done| done["pass"] == "ttl");
        let rows: u64 = ended.filter_map(|done| done["rows"].as_u64()).sum();
        Ok(Swept {
            rows: usize::try_from(rows).unwrap_or(usize::MAX),
            took,
        })
    }
}
