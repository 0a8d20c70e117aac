//! Turns that wait for a scan.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use throughline_conversation_memory::{
    Backlog, ContentForm, Due, MemoryError, RedactionQueue, RedactionState, Settlement,
};
use throughline_domain::{TenantId, Timestamp, TurnId};

use crate::InMemoryStore;
use crate::state::{Log, Row};

fn due(row: &Row) -> Due {
    Due {
        turn: row.to_turn(),
        failures: row.failures,
    }
}

impl Log {
    /// What that version is to look at, the never scanned first.
    fn to_scan(&self, version: u32) -> impl Iterator<Item = &Arc<Row>> {
        let newest = (Some(version), TurnId::from_u128(0));
        self.by_scan.range(..newest).map(|(_, row)| row)
    }

    fn pending(&self) -> impl Iterator<Item = &Arc<Row>> {
        let scanned = (Some(0), TurnId::from_u128(0));
        self.by_scan.range(..scanned).map(|(_, row)| row)
    }

    /// Whether the row still looked as it was seen.
    fn settle(&mut self, settlement: &Settlement) -> bool {
        let seen = settlement.seen;
        let place = (seen.detector_version, settlement.turn);
        let Some(row) = self.by_scan.get(&place).cloned() else {
            return false;
        };
        if row.failures != seen.failures || row.said.redaction().state() != seen.state {
            return false;
        }
        let said = (*row.said)
            .clone()
            .with_redaction(settlement.redaction.clone());
        let new = Row {
            said: Arc::new(said),
            failures: settlement.failures,
            ..(*row).clone()
        };
        self.rescanned(&row, new);
        true
    }
}

#[async_trait]
impl RedactionQueue for InMemoryStore {
    async fn tenants_due(
        &self,
        detector_version: u32,
        after: Option<&TenantId>,
        limit: u32,
    ) -> Result<Vec<TenantId>, MemoryError> {
        Ok(self.read(|state, _| {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let tenants = state.tenants.range::<TenantId, _>((from, Bound::Unbounded));
            let due = tenants.filter(|(_, tenant)| {
                let mut rows = tenant.log.to_scan(detector_version);
                rows.next().is_some()
            });
            due.take(limit as usize)
                .map(|(name, _)| name.clone())
                .collect()
        }))
    }

    async fn due(
        &self,
        tenant: &TenantId,
        detector_version: u32,
        rows: u32,
        except: &[TurnId],
    ) -> Result<Vec<Due>, MemoryError> {
        let found = self.read_tenant(tenant, |state, _| {
            let rows_due = state.log.to_scan(detector_version);
            let rows_due = rows_due.filter(|row| !except.contains(&row.id));
            rows_due.take(rows as usize).cloned().collect::<Vec<_>>()
        });
        Ok(found
            .unwrap_or_default()
            .iter()
            .map(|row| due(row))
            .collect())
    }

    async fn redacted(
        &self,
        tenant: &TenantId,
        after: Option<TurnId>,
        rows: u32,
    ) -> Result<Vec<Due>, MemoryError> {
        let found = self.read_tenant(tenant, |state, _| {
            let later = |row: &&Arc<Row>| after.is_none_or(|after| row.id > after);
            let redacted = |row: &&Arc<Row>| {
                row.said.form() == ContentForm::Raw
                    && row.said.redaction().state() == RedactionState::Redacted
            };
            let found = state.log.by_scan.values().filter(later).filter(redacted);
            let mut found: Vec<_> = found.cloned().collect();
            found.sort_unstable_by_key(|row| row.id);
            found.truncate(rows as usize);
            found
        });
        Ok(found
            .unwrap_or_default()
            .iter()
            .map(|row| due(row))
            .collect())
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        settlements: &[Settlement],
    ) -> Result<Vec<TurnId>, MemoryError> {
        let written = self.write_tenant(tenant, |state, _| {
            let written = settlements.iter().filter(|one| state.log.settle(one));
            written.map(|one| one.turn).collect()
        });
        Ok(written.unwrap_or_default())
    }

    async fn backlog(&self) -> Result<Backlog, MemoryError> {
        Ok(self.read(|state, _| {
            let logs = || state.tenants.values().map(|tenant| &tenant.log);
            let pending: usize = logs().map(|log| log.pending().count()).sum();
            let first = logs()
                .filter_map(|log| log.pending().next())
                .map(|row| row.id);
            Backlog {
                pending: pending as u64,
                oldest: first.map(stored_at).min(),
            }
        }))
    }
}

/// An id is made when its turn is stored, and begins with that time.
fn stored_at(id: TurnId) -> Timestamp {
    let millis = id.as_u128() >> 80;
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
