"""From tasks to dates: critical path, working days, Gantt chart, workbook, milestones."""
