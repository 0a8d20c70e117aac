-- erase_clear_marks
-- A scope can be a phone number. Where nobody else speaks, its mark hides nothing any more: where the
-- person does, and where the scope is one of their own channel ids, whose turns may have ended.
delete from conversations c
where c.tenant_id = $1
and (
    c.channel_scope = any($3)
    or exists (
        select
        from cross_channel_messages m
        where m.tenant_id = $1
        and m.channel_kind = c.channel_kind
        and m.channel_scope = c.channel_scope
        and m.user_id = any($2)
    )
)
and not exists (
    select
    from cross_channel_messages m
    where m.tenant_id = $1
    and m.channel_kind = c.channel_kind
    and m.channel_scope = c.channel_scope
    and m.user_id <> all($2)
)
returning c.tenant_id
