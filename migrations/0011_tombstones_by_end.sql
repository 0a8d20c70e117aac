-- no-transaction
drop index concurrently if exists idempotency_tombstones_end;
-- the sweep of tombstones that no retry can meet any more
create index concurrently idempotency_tombstones_end on idempotency_tombstones (tenant_id, until);
