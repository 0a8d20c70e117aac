//! The other side: the same columns, the same indexes, the same bytes, in `pgbench`'s hands.

use crate::words::{answered, said};

/// Copies of our tables with all their indexes, and users for 256 clients.
pub(super) const TABLES: &str = "
drop schema if exists throughline_bench cascade;
create schema throughline_bench;
create table throughline_bench.turns (like cross_channel_messages including all);
create table throughline_bench.users (like users including all) with (fillfactor = 70);
insert into throughline_bench.users
select 'bench-' || n % 64, ('00000000-0000-0000-0001-' || lpad(to_hex(n), 12, '0'))::uuid, 'active',
    null, 1, 0, 0, 0, now(), now()
from generate_series(0, 255) as n;
";

/// A script for `pgbench`.
pub(crate) struct Script(pub(crate) String);

const COLUMNS: &str = "tenant_id, id, seq, user_id, origin_user_id, client_message_id, request_digest, \
    channel_kind, channel_scope, user_message, assistant_answer, user_message_bytes, assistant_bytes, \
    aux_bytes, metadata, redaction_state, detector_version, content_form, created_at, ingested_at, \
    expires_at";

impl Script {
    /// One statement: insert a turn if its key is new, and move its user's counters if it was.
    pub(crate) fn append() -> Self {
        Self::one_turn(":client_id")
    }

    /// The same, all clients for one user.
    pub(crate) fn append_for_one_user() -> Self {
        Self::one_turn("0")
    }

    fn one_turn(person: &str) -> Self {
        Self(format!(
            "\\set n :n + 1
\\set person {person}
\\set tenant :person % 64
\\set id :base * 1000000000 + :n * 256 + :client_id
with stored as (
    insert into throughline_bench.turns ({COLUMNS})
    values ({})
    on conflict (tenant_id, client_message_id) do nothing
    returning tenant_id, user_id
)
update throughline_bench.users u
set turn_count = u.turn_count + 1, byte_count = u.byte_count + 1602, version = u.version + 1,
    updated_at = now()
from stored s
where u.tenant_id = s.tenant_id and u.user_id = s.user_id;
",
            values(":id::bigint", ":person::integer", ":tenant::integer")
        ))
    }

    /// 128 turns a statement by 2 clients, for other users each: what the tables take at most.
    pub(crate) fn ceiling() -> Self {
        Self(format!(
            "\\set n :n + 1
\\set first :base * 1000000000 + :n * 256 + :client_id * 128
\\set person :client_id * 128
with stored as (
    insert into throughline_bench.turns ({COLUMNS})
    select {}
    from generate_series(0, 127) as i
    on conflict (tenant_id, client_message_id) do nothing
    returning tenant_id, user_id
)
update throughline_bench.users u
set turn_count = u.turn_count + s.turns, byte_count = u.byte_count + 1602 * s.turns,
    version = u.version + 1, updated_at = now()
from (
    select tenant_id, user_id, count(*) as turns from stored
    group by tenant_id, user_id order by tenant_id, user_id
) s
where u.tenant_id = s.tenant_id and u.user_id = s.user_id;
",
            values(
                "(:first::bigint + i)",
                "(:person::integer + i)",
                "((:person::integer + i) % 64)"
            )
        ))
    }

    /// The latest 20 turns of a user out of `users`; nine reads of ten ask for one of the first tenth.
    pub(crate) fn recent(users: usize, tenant_prefix: &str) -> Self {
        let (tenth, last) = (users / 10, users - 1);
        Self(format!(
            "\\set luck random(1, 10)
\\if :luck <= 9
\\set person random(0, {tenth} - 1)
\\else
\\set person random(0, {last})
\\endif
select id, seq, user_id, channel_kind, channel_scope, canvas_session_id, user_message,
    assistant_answer, tool_calls, metadata, redaction_state, created_at
from cross_channel_messages
where tenant_id = '{tenant_prefix}' || :person::integer % 64
and user_id = ('00000000-0000-0000-0002-' || lpad(to_hex(:person::integer), 12, '0'))::uuid
and redaction_state <> 'pending'
and expires_at > now()
order by created_at desc, seq desc
limit 20;
"
        ))
    }
}

/// The columns' values. Ids ascend, as ours do: random ones would cost this side page splits.
fn values(id: &str, person: &str, tenant: &str) -> String {
    let (said, answered) = (said(), answered());
    let uuid = |kind: &str, number: &str| {
        format!("('00000000-0000-0000-{kind}-' || lpad(to_hex({number}), 12, '0'))::uuid")
    };
    let (turn, user) = (uuid("0003", id), uuid("0001", person));
    format!(
        "'bench-' || {tenant}, {turn}, {id}, {user}, {user}, 'pgbench-' || {id},
        '\\x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'::bytea, 'slack-user',
        'C' || {person}, '{said}', '{answered}', 400, 1200, 2, '{{}}', 'clean', 1, 'raw', now(), now(),
        now() + interval '90 days'"
    )
}
