"""What follows a restore: the record that its stores are still to be compared, and the comparison."""
