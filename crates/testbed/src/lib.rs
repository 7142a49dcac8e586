//! A path as namespaces, links, queues and a tunnel in the kernel it runs on
