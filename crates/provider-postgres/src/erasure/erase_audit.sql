-- erase_audit
-- Raw reads go; merges and erasures stay and lose the ids, those inside the detail too (T-36).
with deleted as (
    delete from ccm_audit_events
    where tenant_id = $1
    and op = 'read_raw'
    and (user_id = any($2) or target_id = any($2))
    returning 1
),
nullified as (
    update ccm_audit_events
    set user_id = case when user_id = any($2) then null else user_id end,
        target_id = case when target_id = any($2) then null else target_id end,
        detail = (
            select jsonb_object_agg(
                d.key, case when d.value #>> '{}' = any($3) then 'null'::jsonb else d.value end
            )
            from jsonb_each(detail) as d (key, value)
        )
    where tenant_id = $1
    and op <> 'read_raw'
    and (user_id = any($2) or target_id = any($2))
    returning 1
)
select
    (select count(*) from deleted) as deleted,
    (select count(*) from nullified) as nullified
