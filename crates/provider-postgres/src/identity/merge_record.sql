-- merge_record
insert into merges (
    tenant_id, merge_id, primary_user_id, secondary_user_id, source, actor, merged_identities,
    moved_turns, created_at
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
