//! Every case of the suites.

mod identity {
    throughline_platform_identity::platform_identity_contract!(crate::subject::subject);
}

mod memory {
    throughline_conversation_memory::conversation_memory_contract!(crate::subject::subject);
}

mod one_person {
    throughline_erasure::one_person_contract!(crate::subject::subject);
}
