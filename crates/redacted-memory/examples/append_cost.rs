//! `append_cost FILE`: what scanning adds to an append in memory, over real dialogues (one object with
//! `user_message` and `assistant_answer` a line) and over turns of nothing but what is looked for.
//! `throughline bench redaction-cost` measures a database too.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use throughline_domain::{SystemClock, SystemIds};
use throughline_provider_in_memory::InMemoryStore;
use throughline_redacted_memory::cost::{Fault, dense, measure, read};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let file = std::env::args().nth(1).ok_or("name a file of dialogues")?;
    let real = read(BufReader::new(File::open(file)?))?;
    let dense = dense(real.len());
    let clock = Arc::new(SystemClock);
    for (kind, said) in [("real dialogues", &real), ("dense turns", &dense)] {
        let store = InMemoryStore::new(clock.clone(), Arc::new(SystemIds));
        let cost = measure(&store, (clock.clone(), &SystemIds), said, 10).await?;
        println!("in memory, {kind}: {cost}");
    }
    Ok(())
}
