"""HIPAA Safe Harbor as a checklist of released columns."""
