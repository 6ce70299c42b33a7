"""What several pages share to turn a form into a policy: fields, labels, drafts, conflicts."""
