"""Notifications tell people of alerts and suggestions that concern them: on a page, and by e-mail if they want."""
