//! What each index of the turns costs an insert, and what room on a page does for the rows that every
//! batch updates (docs/adr/0046).

use super::scratch::Scratch;

/// Copies of the turns, one without each index that is there for a query, each given the same rows by
/// 128 a statement, in turns. The tenants and users are those of a busy store: many, in no order.
const INDEXES: &str = r"
create temp table found (variant text, round int, micros double precision, bytes bigint);
do $$
declare
    variants text[] := (
        select array['all'] || array_agg(i.relname::text order by i.relname)
        from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = 'cross_channel_messages'::regclass and not x.indisprimary
    );
    variant text;
    spare text;
    place int;
    began timestamptz;
begin
    for round in 1..5 loop
        for place in 1..array_length(variants, 1) loop
            variant := variants[place];
            drop table if exists copy;
            create table copy (like cross_channel_messages);
            for spare in
                select pg_get_indexdef(x.indexrelid)
                from pg_index x join pg_class i on i.oid = x.indexrelid
                where x.indrelid = 'cross_channel_messages'::regclass and i.relname <> variant
            loop
                execute replace(
                    regexp_replace(spare, 'INDEX \S+ ON', 'INDEX ON'),
                    'cross_channel_messages', 'copy'
                );
            end loop;
            began := clock_timestamp();
            for batch in 0..299 loop
                insert into copy
                select
                    'tenant ' || n % 64, ('01930000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n,
                    md5('user ' || hashint4(n) % 4000)::uuid, md5('user ' || hashint4(n) % 4000)::uuid,
                    md5('key ' || n), sha256(n::text::bytea), 'slack-user', 'C' || hashint4(n + 1) % 4000,
                    null, repeat('a word ', 57), repeat('another ', 150), 400, 1200, 0, null, '{}',
                    'clean', null, 1, 'raw', now(), now(), now() + interval '90 days'
                from generate_series(batch * 128, batch * 128 + 127) n;
            end loop;
            insert into found
            select variant, round, extract(epoch from clock_timestamp() - began) * 1e6 / (300 * 128),
                pg_indexes_size('copy');
        end loop;
    end loop;
end $$;
select
    case f.variant when 'all' then 'with all of them' else 'without ' || f.variant end
    || ': ' || round(percentile_cont(0.5) within group (order by f.micros)::numeric, 1) || ' µs a row, '
    || round(percentile_cont(0.5) within group (order by f.micros / a.micros)::numeric, 2) || ' of all, '
    || max(f.bytes) / (300 * 128) || ' index bytes a row'
from found f
join found a on a.variant = 'all' and a.round = f.round
group by f.variant
order by f.variant <> 'all', percentile_cont(0.5) within group (order by f.micros / a.micros);
";

/// One row a user is updated with each batch: how fast, by the room that is left on its page for the
/// row's next version, which then needs no new index entry.
const ROOM: &str = r"
create temp table found (room int, micros double precision, pages bigint);
do $$
declare
    room int;
    began timestamptz;
begin
    for round in 1..5 loop
        foreach room in array array[50, 70, 90, 100] loop
            drop table if exists copy;
            execute format('create table copy (like users including indexes) with (fillfactor = %s, autovacuum_enabled = off)', room);
            insert into copy (tenant_id, user_id, status, generation, turn_count, byte_count, version, created_at, updated_at)
            select 'tenant ' || n % 64, md5('user ' || n)::uuid, 'active', 1, 0, 0, 0, now(), now()
            from generate_series(1, 20000) n;
            began := clock_timestamp();
            for batch in 1..400 loop
                update copy set version = version + 1, turn_count = turn_count + 1
                where (tenant_id, user_id) in (
                    select 'tenant ' || n % 64, md5('user ' || n)::uuid
                    from (select 1 + abs(hashint4(batch * 128 + i)) % 20000 as n from generate_series(1, 128) i) s
                );
                if batch % 20 = 0 then commit; end if;
            end loop;
            insert into found
            select room, extract(epoch from clock_timestamp() - began) * 1e6 / (400 * 128),
                pg_relation_size('copy') / 8192;
            commit;
        end loop;
    end loop;
end $$;
select
    'fillfactor ' || room || ': ' || round(percentile_cont(0.5) within group (order by micros)::numeric, 1)
    || ' µs an update, ' || max(pages) || ' pages'
from found
group by room
order by room;
";

#[tokio::test]
#[ignore = "a measurement: cargo test --release -p throughline-provider-postgres -- --ignored --nocapture what_an_index"]
async fn what_an_index_and_room_on_a_page_cost() {
    let scratch = Scratch::new().await;
    for sql in [INDEXES, ROOM] {
        let report = scratch.database.psql(sql).unwrap();
        println!("{report}");
        assert!(report.lines().count() >= 4, "{report}");
    }
}
