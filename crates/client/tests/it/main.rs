//! The client against a service in the same process, and against one that answers as it is told, over
//! real sockets.

mod appends;
mod contract;
mod headers;
mod minting;
mod repeating;
mod scanned;
mod stub;
mod subject;
