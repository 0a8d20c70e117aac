-- redaction_settle
-- Compares and sets. People are locked first, in sorted order, as append, merge and sweep do, because a read
-- may be remembered by their version; then turns, of which those that somebody else holds are skipped: so
-- this never waits inside a circle of locks. A turn that was skipped is due again.
with given as (
    select
        g.id,
        g.seen_state,
        g.seen_version,
        g.seen_failures,
        g.state,
        g.version,
        g.findings,
        g.failures
    from unnest(
        $2::uuid[], $3::text[], $4::integer[], $5::integer[],
        $6::text[], $7::integer[], $8::text[], $9::integer[]
    ) as g (
        id, seen_state, seen_version, seen_failures, state, version, findings, failures
    )
),
people as materialized (
    select u.user_id
    from users u
    where u.tenant_id = $1
    and u.user_id in (
        select x.user_id
        from cross_channel_messages x
        where x.tenant_id = $1
        and x.id = any($2)
    )
    order by u.user_id
    for no key update of u
),
locked as materialized (
    select x.id
    from cross_channel_messages x
    where x.tenant_id = $1
    and x.id = any($2)
    and x.user_id in (select p.user_id from people p)
    order by x.id
    for no key update of x skip locked
),
settled as (
    update cross_channel_messages m
    set
        redaction_state = g.state,
        redaction_metadata = g.findings::json,
        detector_version = g.version,
        redaction_failures = g.failures
    from given g
    join locked l on l.id = g.id
    where m.tenant_id = $1
    and m.id = g.id
    and m.redaction_state = g.seen_state
    and m.detector_version is not distinct from g.seen_version
    and coalesce(m.redaction_failures, 0) = g.seen_failures
    returning m.id, m.user_id
),
raised as (
    update users u
    set version = u.version + 1
    where u.tenant_id = $1
    and u.user_id in (select s.user_id from settled s)
)
select s.id
from settled s
