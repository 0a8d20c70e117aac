//! Every fault once: what CI runs. The long form is `./faults --rounds N --seed S`.

use std::time::Duration;

use throughline_faults::{Fault, Pace, rounds};

/// Postgres or the way to it goes and comes back: both servers store again within this.
const BACK_WITHIN: Duration = Duration::from_secs(5);

async fn keeps_its_promises(fault: Fault) {
    let pace = Pace {
        load: Duration::from_millis(700),
        pause: Duration::from_secs(3),
    };
    let tried = rounds(fault, 1, 1, pace, |_| {}).await;
    let tried = match tried {
        Ok(tried) => tried,
        // The right to mount a small disk, and pgbouncer, are not everywhere.
        Err(why)
            if matches!(
                fault,
                Fault::DiskFullSpool | Fault::DiskFullPostgres | Fault::Pooler
            ) =>
        {
            eprintln!("{fault} was not played: {why}");
            return;
        }
        Err(why) => panic!("{fault} was not played: {why}"),
    };
    let broken: Vec<String> = tried.broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{fault}:\n{}", broken.join("\n"));
    if matches!(
        fault,
        Fault::PostgresKilled | Fault::BackendsEnded | Fault::PostgresPaused
    ) {
        let worst = tried.worst();
        assert!(worst < BACK_WITHIN, "{fault}: back after {worst:?}");
    }
}

macro_rules! every_fault {
    ($($name:ident $fault:ident)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                keeps_its_promises(Fault::$fault).await;
            }
        )+

        #[test]
        fn no_fault_is_left_out() {
            assert_eq!([$(Fault::$fault,)+], Fault::ALL);
        }
    };
}

// failures.md 28 and 29: promises are kept when …
every_fault! {
    a_server_is_killed ServerKilled
    postgres_is_killed PostgresKilled
    all_database_connections_are_ended BackendsEnded
    postgres_is_paused PostgresPaused
    the_line_to_postgres_is_reset LineReset
    the_line_to_postgres_stalls LineStalled
    the_line_to_postgres_is_half_open LineHalfOpen
    the_answer_to_a_commit_is_lost CommitAnswerLost
    answers_to_callers_are_cut CallersLine
    a_server_is_asked_to_end_under_load Terminated
    a_pooler_stands_between Pooler
    two_servers_start_during_a_migration Migration
    the_pool_is_exhausted PoolExhausted
    the_spool_has_no_room DiskFullSpool
    postgres_has_no_room DiskFullPostgres
}
