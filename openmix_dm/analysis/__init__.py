"""What is measured and shown of models, mixers and losses: functions that the tools call."""
