-- no-transaction
drop index concurrently if exists cross_channel_messages_end;
-- the sweep of ended turns, tenant by tenant (R-064, R-143), and how long the oldest has waited
create index concurrently cross_channel_messages_end
on cross_channel_messages (tenant_id, expires_at);
