-- resolve_touch
-- A channel user who turns out to be a group takes what came through it out of its person's page, and of
-- that of whom the person was merged into: their versions tell (docs/adr/0042).
with grown as (
    update users u
    set version = u.version + 1
    from platform_identities i
    join users a on a.tenant_id = i.tenant_id and a.user_id = i.user_id
    where $8
    and not i.shared
    and i.tenant_id = $1
    and i.kind = $2
    and i.channel_id = $3
    and u.tenant_id = $1
    and u.user_id in (a.user_id, a.merged_into)
)
update platform_identities
set display_name = coalesce($4, display_name),
    email = coalesce($5, email),
    email_verified = coalesce($6, email_verified),
    last_seen_at = greatest(last_seen_at, $7),
    shared = case when $8 then true else shared end
where tenant_id = $1
and kind = $2
and channel_id = $3
returning user_id
