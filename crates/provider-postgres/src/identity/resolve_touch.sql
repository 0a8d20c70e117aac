-- resolve_touch
update platform_identities
set display_name = coalesce($4, display_name),
    email = coalesce($5, email),
    -- Another address does not inherit what was said of the old one.
    email_verified = coalesce($6, email_verified and coalesce($5 = email, true)),
    last_seen_at = greatest(last_seen_at, $7)
where tenant_id = $1
and kind = $2
and channel_id = $3
returning user_id
