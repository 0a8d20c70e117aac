//! `POST /v1/tenants/{tenant}/turns/batch`

use std::sync::Arc;

use axum::extract::State;
use futures_util::{StreamExt, stream};
use throughline_conversation_memory::QueuedAuthor;
use throughline_domain::{Timestamp, UserId};
use throughline_platform_identity::{ChannelUser, IdentityError};
use throughline_wire::{
    AppendAnswer, AppendBody, Author, BatchAnswer, BatchBody, BatchResult, CheckedAppend, Problem,
    QueuedAnswer,
};

use super::append::minted_key;
use super::outcome::Sent;
use super::{author, queue};
use crate::body::Json;
use crate::caller::Tenant;
use crate::failure::{Failure, chain};
use crate::query::Query;
use crate::shared::Shared;

/// Authors resolved side by side.
const RESOLVES_AT_ONCE: usize = 8;

/// What became of one turn.
type Outcome = Result<Done, Failure>;

enum Done {
    Stored(AppendAnswer),
    Queued(QueuedAnswer),
}

/// Stores up to 500 turns; one refused turn costs only itself, and the answers come in order. With
/// `on_unavailable=queue` those that the store could not take are queued.
pub(crate) async fn batch(
    tenant: Tenant,
    query: Query,
    State(shared): State<Shared>,
    body: Result<Json<BatchBody>, Failure>,
) -> Result<axum::Json<BatchAnswer>, Failure> {
    let arrived = tenant.clock().now();
    let refused = |_: &Failure| shared.counters.append_refused();
    let queues = query.queues().map_err(Failure::from).inspect_err(refused)?;
    let Json(body) = body.inspect_err(refused)?;
    let bodies = body.decode().map_err(Failure::from).inspect_err(refused)?;
    let checked: Vec<Result<CheckedAppend, Problem>> = bodies
        .into_iter()
        .map(|body| check(&tenant, &shared, body))
        .collect();
    let authors = resolve_all(&tenant, &shared, &checked).await;
    let spare = queues.then(|| checked.clone());
    let mut outcomes = store(&tenant, &shared, checked, &authors).await;
    if let Some(turns) = spare {
        queue_failed(&tenant, turns, (&authors, arrived), &mut outcomes).await;
    }
    log_first_cause(&outcomes);
    let results = outcomes.into_iter().map(result).collect();
    Ok(axum::Json(BatchAnswer {
        results,
        erasure_epoch: tenant.epoch(),
    }))
}

fn check(
    tenant: &Tenant,
    shared: &Shared,
    body: Result<AppendBody, Problem>,
) -> Result<CheckedAppend, Problem> {
    body.and_then(|body| body.check(tenant.id(), || minted_key(tenant)))
        .inspect_err(|_| shared.counters.append_refused())
}

/// Each different channel user once, as of the earliest they said; an erasure since then parts their turns,
/// and each is asked for by itself.
type Resolved = Vec<(Sighting, Result<UserId, Arc<IdentityError>>)>;

/// A channel user, as of when they said something.
type Sighting = (ChannelUser, Option<Timestamp>);

async fn resolve_all(
    tenant: &Tenant,
    shared: &Shared,
    turns: &[Result<CheckedAppend, Problem>],
) -> Resolved {
    let mut earliest: Vec<Sighting> = Vec::new();
    for (user, said_at) in turns.iter().flatten().filter_map(sighting) {
        // A batch is usually one conversation: the author was just seen.
        match earliest.iter_mut().rev().find(|(seen, _)| seen == user) {
            Some((_, first)) => *first = earlier(*first, said_at),
            None => earliest.push((user.clone(), said_at)),
        }
    }
    let mut authors = resolve_each(tenant, shared, earliest).await;
    let mut parted: Vec<Sighting> = Vec::new();
    for (user, said_at) in turns.iter().flatten().filter_map(sighting) {
        let asked = |((seen, at), found): &(Sighting, Result<_, Arc<IdentityError>>)| {
            seen == user && (*at == said_at || !is_gone(found))
        };
        let this = (user.clone(), said_at);
        if !authors.iter().any(asked) && !parted.contains(&this) {
            parted.push(this);
        }
    }
    authors.extend(resolve_each(tenant, shared, parted).await);
    authors
}

fn sighting(turn: &CheckedAppend) -> Option<(&ChannelUser, Option<Timestamp>)> {
    match &turn.author {
        Author::User(_) => None,
        Author::Channel(user) => Some((user, turn.said_at())),
    }
}

/// What has no date is said now.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}

fn is_gone(found: &Result<UserId, Arc<IdentityError>>) -> bool {
    matches!(found, Err(error) if matches!(**error, IdentityError::Gone))
}

async fn resolve_each(tenant: &Tenant, shared: &Shared, sightings: Vec<Sighting>) -> Resolved {
    stream::iter(sightings)
        .map(|(user, said_at)| async move {
            let result = author::resolve(tenant, shared, &user, said_at).await;
            ((user, said_at), result.map_err(Arc::new))
        })
        .buffered(RESOLVES_AT_ONCE)
        .collect()
        .await
}

/// What came of asking for the turn's author: as of the turn, else as of one before it.
fn found<'a>(
    authors: &'a Resolved,
    user: &ChannelUser,
    said_at: Option<Timestamp>,
) -> Option<&'a Result<UserId, Arc<IdentityError>>> {
    let of = |exactly: bool| {
        let this =
            move |((seen, at), _): &&(Sighting, _)| seen == user && (!exactly || *at == said_at);
        authors.iter().rev().find(this).map(|(_, found)| found)
    };
    of(true).or_else(|| of(false))
}

/// Sends what can be stored in one call and puts the answers back in order.
async fn store(
    tenant: &Tenant,
    shared: &Shared,
    turns: Vec<Result<CheckedAppend, Problem>>,
    authors: &Resolved,
) -> Vec<Outcome> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(turns.len());
    let mut waiting = Vec::new();
    let mut ready = Vec::new();
    for (place, turn) in turns.into_iter().enumerate() {
        let prepared = turn.map_err(Failure::from).and_then(|turn| {
            let user = known(shared, &turn, authors)?;
            Ok((Sent::new(&turn, user), turn.said_by(user)))
        });
        match prepared {
            Ok((sent, turn)) => {
                waiting.push((place, sent));
                ready.push(turn);
                outcomes.push(None);
            }
            Err(failure) => outcomes.push(Some(Err(failure))),
        }
    }
    if !ready.is_empty() {
        let answers = tenant.append_batch(ready).await;
        for ((place, sent), answer) in waiting.into_iter().zip(answers) {
            outcomes[place] = Some(sent.answer(shared, answer).map(Done::Stored));
        }
    }
    let unanswered = || Err(Failure::internal("the store gave fewer answers than turns"));
    outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap_or_else(unanswered))
        .collect()
}

/// Queues what the store could not take, in one call.
async fn queue_failed(
    tenant: &Tenant,
    turns: Vec<Result<CheckedAppend, Problem>>,
    (authors, arrived): (&Resolved, Timestamp),
    outcomes: &mut [Outcome],
) {
    let mut places = Vec::new();
    let mut waiting = Vec::new();
    for (place, (turn, outcome)) in turns.into_iter().zip(outcomes.iter()).enumerate() {
        let helps = outcome.as_ref().is_err_and(queue::helps);
        if let (Ok(turn), true) = (turn, helps) {
            let author = queued_author(tenant, &turn, authors);
            waiting.push(queue::Waiting::new(turn, author, arrived));
            places.push(place);
        }
    }
    let kept = queue::keep_all(tenant, waiting).await;
    for (place, kept) in places.into_iter().zip(kept) {
        let outcome = &mut outcomes[place];
        match (kept, &*outcome) {
            (Ok(answer), _) => *outcome = Ok(Done::Queued(answer)),
            (Err(refusal), Err(failure)) => *outcome = Err(queue::neither(failure, refusal)),
            (Err(_), Ok(_)) => {}
        }
    }
}

/// The user where they could be resolved, else the channel user.
fn queued_author(tenant: &Tenant, turn: &CheckedAppend, authors: &Resolved) -> QueuedAuthor {
    let resolved = sighting(turn)
        .and_then(|(user, said_at)| found(authors, user, said_at))
        .and_then(|found| found.as_ref().ok());
    match resolved {
        Some(user) => QueuedAuthor::User(*user),
        None => queue::author(tenant, &turn.author),
    }
}

fn known(shared: &Shared, turn: &CheckedAppend, authors: &Resolved) -> Result<UserId, Failure> {
    let author = match &turn.author {
        Author::User(user) => return Ok(*user),
        Author::Channel(author) => author,
    };
    match found(authors, author, turn.said_at()) {
        Some(Ok(user)) => Ok(*user),
        Some(Err(error)) => Err(author::not_stored(shared, Arc::clone(error), turn.key())),
        None => Err(Failure::internal("an author of the batch was not resolved")),
    }
}

/// The whole call answers 200, so its causes are logged here; one line, for they are mostly alike.
fn log_first_cause(outcomes: &[Outcome]) {
    let mut causes = outcomes
        .iter()
        .filter_map(|outcome| outcome.as_ref().err()?.cause.as_ref());
    if let Some(first) = causes.next() {
        let failed = 1 + causes.count();
        tracing::error!(
            turns.failed = failed,
            cause = chain(first.as_ref()),
            "turns failed"
        );
    }
}

fn result(outcome: Outcome) -> BatchResult {
    match outcome {
        Ok(Done::Queued(answer)) => BatchResult::queued(answer),
        Ok(Done::Stored(answer)) => Ok(answer).into(),
        Err(failure) => Err(failure.problem).into(),
    }
}
