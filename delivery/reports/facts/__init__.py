"""Facts of an engagement as documents print them, collected once and frozen."""
