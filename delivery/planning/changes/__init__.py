"""What a change request does to scope, effort, plan, price and criteria."""
