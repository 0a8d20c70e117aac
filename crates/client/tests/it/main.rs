//! The client against a service in the same process, over a real socket.

mod contract;
mod minting;
mod scanned;
mod subject;
