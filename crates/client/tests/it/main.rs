//! The client against a service in the same process, and against one that answers as it is told, over
//! real sockets.

mod appends;
mod batches;
mod contract;
mod headers;
mod minting;
mod projection;
mod queueing;
mod repeating;
mod scanned;
mod stub;
mod subject;
mod tls;
