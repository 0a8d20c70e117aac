-- outbox_forget
with gone as (
    delete from ccm_outbox o
    where o.tenant_id = $1
    and (
        o.user_id = any($2)
        or (o.ref_kind, o.ref_id) in (
            select r.kind, r.id
            from unnest($3::text[], $4::text[]) as r (kind, id)
        )
    )
    returning o.id
)
select count(*) as entries
from gone
