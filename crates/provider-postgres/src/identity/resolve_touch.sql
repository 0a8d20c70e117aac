-- resolve_touch
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
