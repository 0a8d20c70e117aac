//! Every case of the three suites.

mod tenancy {
    throughline_tenancy::tenancy_contract!(crate::subject::subject);
}

mod identity {
    throughline_platform_identity::platform_identity_contract!(crate::subject::subject);
}

mod memory {
    throughline_conversation_memory::conversation_memory_contract!(crate::subject::subject);
}

mod outbox {
    throughline_conversation_memory::outbox_contract!(crate::subject::subject);
}
