-- undo_merge_record
update merges
set undone_at = $5,
    undone_by = $4
where tenant_id = $1
and merge_id = $2
and undone_at is null
returning (
    select count(*)
    from platform_identities i
    where i.tenant_id = $1
    and i.user_id = any($3)
) as identities
