//! Which tenants have something to do. Over all of them: the one place where the sweep starts.

use throughline_conversation_memory::{DueTenants, OutboxError};
use throughline_domain::TenantId;
use tokio_postgres::types::Type;

use super::{TABLE, refused};
use crate::row::Reader;
use crate::statement::{ForOperator, Statement};
use crate::store::PostgresStore;

pub(super) static DUE: ForOperator = ForOperator(Statement {
    name: "outbox_due",
    sql: "-- outbox_due\n\
          select tenant_id\n\
          from ccm_outbox\n\
          where tenant_id > $1\n\
          and state = 'pending'\n\
          and next_attempt_at <= $2\n\
          and (lease_until is null or lease_until <= $2)\n\
          group by tenant_id\n\
          order by tenant_id\n\
          limit $3",
    params: &[Type::TEXT, Type::TIMESTAMPTZ, Type::INT8],
});

pub(super) static DEAD: ForOperator = ForOperator(Statement {
    name: "outbox_dead",
    sql: "-- outbox_dead\n\
          select tenant_id\n\
          from ccm_outbox\n\
          where tenant_id > $1\n\
          and state = 'dlq'\n\
          and died_at < $2\n\
          group by tenant_id\n\
          order by tenant_id\n\
          limit $3",
    params: &[Type::TEXT, Type::TIMESTAMPTZ, Type::INT8],
});

pub(super) async fn tenants(
    store: &PostgresStore,
    due: DueTenants,
    after: Option<&TenantId>,
    limit: u32,
) -> Result<Vec<TenantId>, OutboxError> {
    let (statement, moment) = match due {
        DueTenants::Append => (&DUE, store.clock.now()),
        DueTenants::Expire(before) => (&DEAD, before),
    };
    // Every name is greater than the empty text.
    let after = after.map_or("", TenantId::as_str);
    let (moment, limit) = (moment.to_system_time(), i64::from(limit));
    let named = async {
        let rows = store
            .sessions
            .query_as_operator(statement, &[&after, &moment, &limit])
            .await?;
        let name =
            |row| Reader::of(row, TABLE).parsed("tenant_id", |name| TenantId::parse(name).ok());
        rows.iter().map(name).collect::<Result<Vec<_>, _>>()
    };
    // No tenant is asked for, so none can be missing.
    let nobody = || TenantId::parse("unknown").expect("a plain name");
    named.await.map_err(|error| refused(error, &nobody()))
}
