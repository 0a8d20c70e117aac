//! What the provider tells of itself.

use std::sync::Arc;

use prometheus::Registry;
use throughline_domain::{SystemClock, SystemIds, TenantId};
use throughline_tenancy::Tenancy as _;

use super::scratch::migrated;
use crate::{ConnectError, PostgresConfig, PostgresStore, statement};

fn value(registry: &Registry, name: &str, label: Option<&str>) -> Option<f64> {
    let families = registry.gather();
    let family = families.iter().find(|family| family.name() == name)?;
    let metric = family.get_metric().iter().find(|metric| {
        label.is_none_or(|label| metric.get_label().iter().any(|pair| pair.value() == label))
    })?;
    let histogram = metric.get_histogram();
    Some(match metric.get_gauge().get_value() {
        0.0 => f64::from(u32::try_from(histogram.get_sample_count()).unwrap()),
        gauge => gauge,
    })
}

/// R-151, failures.md 31: every series is there at zero, one for each statement and no more later.
#[tokio::test]
async fn every_series_is_there_from_the_start_and_moves_with_its_statement() {
    let database = migrated().await;
    let registry = Registry::new();
    let config = PostgresConfig::new(database.url().into());
    let store = PostgresStore::connect(
        config.clone(),
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        &registry,
    )
    .unwrap();
    let statements = || {
        let families = registry.gather();
        let seconds = families
            .into_iter()
            .find(|f| f.name() == "ccm_store_statement_seconds")
            .unwrap();
        seconds.get_metric().len()
    };
    let before = statements();
    for statement in statement::all() {
        let seconds = value(
            &registry,
            "ccm_store_statement_seconds",
            Some(statement.name),
        );
        assert_eq!(seconds, Some(0.0), "{}", statement.name);
    }
    assert_eq!(
        value(&registry, "ccm_store_pool_wait_seconds", None),
        Some(0.0)
    );
    assert_eq!(
        value(&registry, "ccm_store_pool_connections", Some("max")),
        Some(8.0)
    );
    assert_eq!(
        value(&registry, "ccm_store_pool_connections", Some("open")),
        Some(0.0)
    );
    let acme = TenantId::parse("acme").unwrap();
    assert_eq!(store.tenant(&acme).await.unwrap(), None);
    assert_eq!(
        value(
            &registry,
            "ccm_store_statement_seconds",
            Some("tenant_read")
        ),
        Some(1.0)
    );
    assert_eq!(
        value(&registry, "ccm_store_pool_wait_seconds", None),
        Some(1.0)
    );
    assert_eq!(
        value(&registry, "ccm_store_pool_connections", Some("open")),
        Some(1.0)
    );
    assert_eq!(
        value(&registry, "ccm_store_pool_connections", Some("idle")),
        Some(1.0)
    );
    assert_eq!(statements(), before);
    let twice = PostgresStore::connect(
        config,
        Arc::new(SystemClock),
        Arc::new(SystemIds),
        &registry,
    );
    assert!(matches!(twice, Err(ConnectError::Metrics(_))));
}

/// A caller that finds no connection is told within its time.
#[tokio::test]
async fn the_wait_for_a_connection_is_bounded() {
    let scratch = super::scratch::Scratch::configured(|config| {
        config.pool_size = 1;
        config.pool_wait = std::time::Duration::from_millis(100);
    })
    .await;
    let held = scratch.store.sessions.session().await.unwrap();
    let error = scratch.store.ping().await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "no database connection was free within 100ms");
    drop(held);
    scratch.store.ping().await.unwrap();
    scratch.store.close().await;
    assert!(scratch.store.ping().await.is_err());
}
