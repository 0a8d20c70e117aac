//! The contract suites, with prepared statements; those of the memory with unnamed ones and with each way
//! of writing as well.

mod tenancy {
    throughline_tenancy::tenancy_contract!(crate::tests::scratch::prepared);
}

mod identity {
    throughline_platform_identity::platform_identity_contract!(crate::tests::scratch::prepared);
}

mod memory {
    throughline_conversation_memory::conversation_memory_contract!(crate::tests::scratch::prepared);
}

mod memory_direct {
    throughline_conversation_memory::conversation_memory_contract!(crate::tests::scratch::direct);
}

mod memory_one_tenant_each {
    throughline_conversation_memory::conversation_memory_contract!(
        crate::tests::scratch::one_tenant_each
    );
}

mod memory_unnamed {
    throughline_conversation_memory::conversation_memory_contract!(crate::tests::scratch::unnamed);
}

mod outbox {
    throughline_conversation_memory::outbox_contract!(crate::tests::scratch::prepared);
}

mod outbox_unnamed {
    throughline_conversation_memory::outbox_contract!(crate::tests::scratch::unnamed);
}

mod one_person {
    throughline_erasure::one_person_contract!(crate::tests::scratch::prepared);
}

mod retention {
    throughline_conversation_memory::retention_contract!(crate::tests::scratch::prepared);
}

mod redaction {
    throughline_conversation_memory::redaction_contract!(crate::tests::scratch::prepared);
}

mod swept {
    throughline_erasure::swept_contract!(crate::tests::scratch::prepared);
}
