-- Channel users that are a group and not a person.

set local lock_timeout = '5s';

-- Null is false: the release before this one inserts without it.
alter table platform_identities
add column shared boolean;

-- recent: which of a person's accounts are groups; nearly always empty
create index platform_identities_shared on platform_identities (tenant_id, user_id) where shared;
