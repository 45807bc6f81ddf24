"""Every route, form and service, tried by people and keys whose rights differ from team to team."""
