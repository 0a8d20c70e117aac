//! Every setting of the service, declared once: field, kind, default and help.
//!
//! A value comes from the flag, else the `CCM_*` environment variable, else the file named by
//! `--config`, else the default below. Help, samples and `--print-config` are made from the table.

mod declare;
mod file;
mod flags;
mod sources;
mod value;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;

use secrecy::SecretString;

pub(crate) use declare::{Section, Setting};
pub(crate) use flags::{AllFlags, DatabaseFlags, Flags};
pub(crate) use sources::{Environment, Loaded};
pub(crate) use value::{
    Between, ByteSize, LogFilter, LogFormat, OnOff, Rate, Schedule, Span, Statements, Writing,
};

declare::settings! {
    Database {
        /// Where the data is kept; the address may carry sslmode=disable, prefer, require or
        /// verify-full. Better given by environment or file than by flag: other users of the machine
        /// can read flags.
        database_url: Option<SecretString> = None, "postgres://throughline@db.example:5432/throughline?sslmode=verify-full";
        /// Certificates of the authorities trusted for the database, as PEM; the system's own when
        /// not set.
        database_root_certificate: Option<PathBuf> = None, "/etc/throughline/database-ca.pem";
        /// Apply outstanding migrations before serving.
        migrate: bool = Some("false"), "";
        /// Connections to the database, at most.
        pool_size: Between<1, 1000> = Some("16"), "";
        /// How long a request waits for a free connection.
        pool_wait: Span<1> = Some("2s"), "";
        /// How long opening a connection may take.
        connect_timeout: Span<1> = Some("5s"), "";
        /// How long one statement may run.
        statement_timeout: Span<1> = Some("5s"), "";
        /// Send statements prepared, or unnamed for a pooler in transaction mode.
        statement_mode: Statements = Some("prepared"), "";
        /// How appends become transactions: group lets a few writers commit together what has queued;
        /// tenant does so for one tenant at a time, for a database that is sharded by tenant; direct
        /// makes each call a transaction.
        write_strategy: Writing = Some("group"), "";
        /// Writers of the strategies group and tenant, each with a connection beside the pool.
        writers: Between<1, 64> = Some("2"), "";
        /// Turns that may wait for a writer; more are answered with 503. One tenant has half of them
        /// at most.
        write_queue: Between<2, 1_000_000> = Some("10000"), "";
        /// Bytes of turns that may wait for a writer.
        write_queue_bytes: ByteSize = Some("64MiB"), "";
    }
    Http {
        /// Where to listen.
        listen: SocketAddr = Some("127.0.0.1:8080"), "";
        /// Open connections, at most; beyond it, who has been idle longest gives way.
        max_connections: Between<1, 1_000_000> = Some("4096"), "";
        /// Requests worked on at once, at most; more are answered with 503.
        max_concurrency: Between<1, 100_000> = Some("512"), "";
        /// The largest request body.
        body_limit: ByteSize = Some("4MiB"), "";
        /// How long a client may take to send a request's head, and how long an idle connection stays.
        header_timeout: Span<1> = Some("30s"), "";
        /// How long a client may take to send a request's body.
        body_timeout: Span<1> = Some("10s"), "";
        /// How long a client may leave its answer lying; each byte it takes gives it new time.
        send_timeout: Span<1> = Some("30s"), "";
        /// How long a request may take in all.
        request_timeout: Span<1> = Some("30s"), "";
        /// Requests a second for each key, on average; more are answered with 429.
        rate_limit: Rate = Some("2000"), "";
        /// Requests of one key at once before the rate counts.
        rate_burst: Between<1, 1_000_000> = Some("4000"), "";
        /// The most memory for answers with recent turns, which are served again while the database says
        /// that nothing they show has changed; 1KiB remembers next to none.
        read_cache: ByteSize = Some("64MiB"), "";
        /// How long a key that was found valid is remembered, at most 5s: so long a key that another
        /// process revoked may still be honoured.
        key_cache: Span<0, 5_000> = Some("5s"), "";
        /// How long a key that was valid is honoured while the database is away, so that appends can
        /// be queued; 0s honours none.
        key_outage: Span = Some("1h"), "";
    }
    Operation {
        /// What a reader of /metrics sends as bearer token; without one /metrics is open on loopback
        /// and closed elsewhere.
        metrics_token: Option<SecretString> = None, "a-long-random-text";
        /// How log lines look.
        log_format: LogFormat = Some("json"), "";
        /// Which log lines are written: a level, or target=level pairs.
        log_filter: LogFilter = Some("info"), "";
        /// After a stop signal, how long to go on accepting while /readyz already says 503, so that a
        /// load balancer can look away.
        drain_delay: Span = Some("0s"), "";
        /// After a stop signal, how long requests may go on before they are cut.
        shutdown_deadline: Span = Some("20s"), "";
        /// How many processes serve this store; the in-memory store refuses more than one.
        replicas: Between<1, 10_000> = Some("1"), "";
    }
    Spool {
        /// A directory of this process's own, where appends with on_unavailable=queue wait while the
        /// database is away; without one they are answered with 503.
        spool_dir: Option<PathBuf> = None, "/var/lib/throughline/spool";
        /// What the spool is sealed with: 32 random bytes as 64 hex digits or base64, such as openssl
        /// rand -hex 32 makes. Needed with spool_dir.
        spool_key: Option<SecretString> = None, "32-random-bytes-as-64-hex-digits";
        /// How much the spool takes in all; beyond it, 503.
        spool_max_bytes: ByteSize = Some("256MiB"), "";
        /// How much of it one tenant may take.
        spool_tenant_bytes: ByteSize = Some("64MiB"), "";
    }
    Jobs {
        /// Run jobs by their schedules; off, a job runs only when an operator asks for it.
        jobs: OnOff = Some("on"), "";
        /// Sweep by schedule what has ended or is over a cap.
        gc_enabled: OnOff = Some("on"), "";
        /// When to sweep: five cron fields, in UTC.
        gc_cron: Schedule = Some("0 4 * * *"), "";
        /// How often to sweep; wins over `gc_cron`.
        gc_interval: Option<Span<1>> = None, "6h";
        /// Rows one transaction of a sweep deletes, at most.
        gc_chunk: Between<1, 10_000> = Some("1000"), "";
        /// How often to scan turns that were stored unscanned.
        redaction_interval: Span = Some("2s"), "";
        /// When to compare counters with turns: five cron fields, in UTC.
        reconcile_cron: Schedule = Some("0 3 * * SUN"), "";
    }
    Tenants {
        /// Days a turn can be read, for tenants that are created without a value of their own.
        ttl_days: Between<1, 3650> = Some("90"), "";
        /// Turns kept for one user, likewise; the oldest go first.
        turn_cap: Between<1, 10_000_000> = Some("10000"), "";
        /// Bytes kept for one user, likewise, from 1851392, the most one turn can hold.
        byte_cap: ByteSize = Some("50000000"), "";
        /// Days an audit entry is kept, likewise.
        audit_retention_days: Between<1, 3650> = Some("365"), "";
        /// Days a dead letter is kept, likewise, and never longer than a turn.
        dlq_retention_days: Between<1, 14> = Some("14"), "";
    }
    Development {
        /// Serve from memory with a tenant named dev; nothing is kept.
        dev: bool = Some("false"), "";
        /// The key of tenant dev, at least 16 characters; a random one when not set.
        dev_key: Option<SecretString> = None, "a-key-for-development";
        /// An operator's key, at least 16 characters; none when not set.
        dev_operator_key: Option<SecretString> = None, "an-operators-key-for-development";
    }
}

/// The row of a key.
pub(crate) fn find(key: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|setting| setting.key == key)
}
