//! The set of metrics a host registers (R-151, T-75, T-82).

use prometheus::Registry;
use prometheus::proto::LabelPair;
use throughline_durable_history::{ConversationHistory, HistoryMetrics};

use crate::world::World;

/// `name{label} value` of every series, in order.
fn series(registry: &Registry) -> Vec<String> {
    let mut lines = Vec::new();
    for family in registry.gather() {
        for series in family.get_metric() {
            let labels: Vec<&str> = series.get_label().iter().map(LabelPair::value).collect();
            let value = series.get_counter().get_value() + series.get_gauge().get_value();
            lines.push(format!("{}{labels:?} {value}", family.name()));
        }
    }
    lines
}

#[test]
fn every_series_is_there_at_zero() {
    let registry = Registry::new();
    HistoryMetrics::register(&registry).unwrap();
    assert_eq!(
        series(&registry),
        [
            "ccm_history_buffer_entries[] 0",
            "ccm_history_hydrations_total[\"empty\"] 0",
            "ccm_history_hydrations_total[\"failed\"] 0",
            "ccm_history_hydrations_total[\"found\"] 0",
            "ccm_history_queue_depth[] 0",
            "ccm_history_spool_bytes[] 0",
            "ccm_history_spool_entries[] 0",
            "ccm_history_spool_set_aside[] 0",
            "ccm_history_waiting_bytes[] 0",
            "ccm_outbox_local_dropped_total[] 0",
            "ccm_read_failures_total[\"getByChannelScope\"] 0",
            "ccm_read_failures_total[\"getRecentByUser\"] 0",
            "ccm_write_failures_total[\"committed\"] 0",
            "ccm_write_failures_total[\"rejected\"] 0",
            "ccm_write_failures_total[\"timeout\"] 0",
            "ccm_write_failures_total[\"transport\"] 0",
        ]
    );
}

// failures.md 31; two adapters of one process add up.
#[tokio::test(start_paused = true)]
async fn the_number_of_series_does_not_grow_with_scopes_or_adapters() {
    let world = World::new().await;
    let before = series(&world.registry).len();
    let [first, second] = [world.history(), world.history()];
    world.memory.set(crate::flaky::Mode::Transport);
    for n in 0..300 {
        world.say(&first, &format!("s{n}"), "hi").await;
        world.say(&second, &format!("s{n}"), "hi").await;
        first.mark_pending_decision(&format!("s{n}"), "topic");
    }
    let waiting = world.metric("ccm_history_queue_depth", None)
        + world.metric("ccm_history_buffer_entries", None);
    assert_eq!(waiting, 600);
    world.memory.set(crate::flaky::Mode::Up);
    first.flush().await;
    second.flush().await;
    assert_eq!(series(&world.registry).len(), before);
    for gauge in [
        "ccm_history_queue_depth",
        "ccm_history_buffer_entries",
        "ccm_history_waiting_bytes",
    ] {
        assert_eq!(world.metric(gauge, None), 0, "{gauge}");
    }
}
