"""What cards do while jobs run: looks at them, what is kept of it, alarms, charts."""
