"""Programs that try to gain points or to do harm, at all isolation levels."""
