//! One connection, from accept to close.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::Limits;
use super::linger::{Lingering, Owed};
use super::places::Place;
use super::stall::Impatient;

/// A request's head, and what is read ahead of a body.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Serves the connection until the client leaves, a head takes too long, an answer is not taken, `stop` is cancelled, or
/// it is idle and asked to give its place to another. After
/// that the request that runs is finished and no other is begun; a connection that never sent a whole
/// head has nothing to finish and is closed at once.
pub(super) async fn serve(
    stream: TcpStream,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
    place: Place,
) {
    // Answers are written whole: waiting for more bytes to send only delays them.
    let _ = stream.set_nodelay(true);
    let spoke = Arc::new(AtomicBool::new(false));
    let place = Arc::new(place);
    let service = TowerToHyperService::new(router);
    let owed = Owed::default();
    let counted = service_fn({
        let (spoke, owed, place) = (Arc::clone(&spoke), owed.clone(), Arc::clone(&place));
        move |request: Request<Incoming>| {
            spoke.store(true, Ordering::Relaxed);
            place.busy();
            let (answer, place) = (
                service.call(request.map(|body| owed.watch(body))),
                Arc::clone(&place),
            );
            async move {
                let answer = answer.await;
                // What is left of it is written to its end, whoever asks it to give way.
                place.idle();
                answer
            }
        }
    });
    // HTTP/1 only: with protocol detection in front, a client that never finishes the preface would
    // be outside every timeout.
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(READ_BUFFER_BYTES);
    let mut connection = pin!(builder.serve_connection(
        TokioIo::new(Lingering::new(
            Impatient::new(stream, limits.send_timeout),
            owed
        )),
        counted
    ));
    tokio::select! {
        result = connection.as_mut() => return log_end(&result),
        () = stop.cancelled() => {}
        () = place.asked_to_give_way() => {}
    }
    if spoke.load(Ordering::Relaxed) {
        connection.as_mut().graceful_shutdown();
        log_end(&connection.await);
    }
}

/// That a client broke off or was too slow is its business; it is told at debug level.
fn log_end(result: &Result<(), hyper::Error>) {
    if let Err(error) = result {
        tracing::debug!(error = %crate::failure::chain(error), "a connection ended early");
    }
}
