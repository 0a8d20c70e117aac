-- Turns that wait for a scan, those that an older detector looked at, and how often a scan has failed.

-- Null is zero: the release before this one inserts without it.
alter table cross_channel_messages
add column redaction_failures smallint check (redaction_failures >= 0);

-- The tables are of the same release, so they are empty or small: no index is built beside traffic.

-- redaction_due, redaction_backlog: oldest first; empty where redaction is done before the insert
create index cross_channel_messages_unscanned
on cross_channel_messages (tenant_id, id)
where redaction_state = 'pending';

-- redaction_due after an upgrade of the detector. Nearly all its entries are equal, so it stays small.
create index cross_channel_messages_detector
on cross_channel_messages (tenant_id, detector_version)
where redaction_state <> 'pending' and content_form = 'raw';
