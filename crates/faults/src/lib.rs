//! The promises under faults: a load on two real servers and a real Postgres, a fault in the middle of it,
//! and a judge who decides from every call, every answer and the final store whether a promise was broken.
//!
//! Belongs here: the load, the faults, the history, the checker, the table. Does not belong here: how a
//! process or a line is started and broken (`tests/`, `scratch-postgres`), and what a provider promises by
//! itself (the contracts).

mod call;
mod checker;
mod disk;
mod fault;
mod follower;
mod history;
mod load;
mod operator;
mod reader;
mod round;
mod stage;
mod store;
mod table;
mod words;
mod writer;

pub use checker::{Broken, Promise, check};
pub use fault::Fault;
pub use history::{Appending, Erasing, History, Id, Merging, Moment, Odd, Outcome, Reading, Shown};
pub use round::{Pace, Round, rounds};
pub use store::{Counted, Followed, Row, Store};
pub use table::{Table, Tried};
