-- Stable users, and the channel users behind which they stand.

-- One row a user is the fence that append, merge and erase lock, the counters that append moves and
-- the version that a cached read asks for (docs/adr/0011).
create table users (
    tenant_id text collate "C" not null,
    user_id uuid not null,
    status text collate "C" not null check (status in ('active', 'merged', 'forgotten')),
    merged_into uuid,
    generation bigint not null check (generation >= 1),
    turn_count bigint not null check (turn_count >= 0),
    byte_count bigint not null check (byte_count >= 0),
    version bigint not null check (version >= 0),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (tenant_id, user_id),
    foreign key (tenant_id) references tenants (tenant_id),
    check ((status = 'merged') = (merged_into is not null))
) with (fillfactor = 70);

-- Answers "which ids were merged into this one"; holds the merged users only.
create index users_merged_into on users (tenant_id, merged_into) where merged_into is not null;

-- Kind and id are two columns, never glued: ('a:b', 'c') and ('a', 'b:c') are two people.
create table platform_identities (
    tenant_id text collate "C" not null,
    kind text collate "C" not null check (
        kind in (
            'teams-aad', 'slack-user', 'discord-user', 'whatsapp-phone', 'telegram-chat', 'custom'
        )
    ),
    channel_id text collate "C" not null,
    user_id uuid not null,
    display_name text,
    email text,
    email_verified boolean not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    claim_source text collate "C" not null check (
        claim_source in ('auto-email', 'manual', 'system')
    ),
    primary key (tenant_id, kind, channel_id),
    foreign key (tenant_id, user_id) references users (tenant_id, user_id)
) with (fillfactor = 90);

create index platform_identities_user on platform_identities (tenant_id, user_id);

do $$
begin
    if exists (select from pg_extension where extname = 'citus') then
        perform create_distributed_table('users', 'tenant_id', colocate_with => 'tenants');
        perform create_distributed_table('platform_identities', 'tenant_id', colocate_with => 'tenants');
    end if;
end
$$;
