"""What breaks outside: connections, servers, disks, processes."""
