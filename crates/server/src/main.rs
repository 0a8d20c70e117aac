fn main() {}
mod failure;
mod settings;
